package lab

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Process is one of a tree.
type Process struct {
	PID    int
	Plugin string // "" for the root
	PSS    int64  // bytes: its own pages, and its share of those that it shares
}

// Tree lists a process and the plugins that it started. It reads /proc, so that it
// needs Linux.
func Tree(root int) ([]Process, error) {
	all := []Process{{PID: root}}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // gone since
		}
		if pid, parent, ok := parseStat(stat); ok && parent == root {
			cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			all = append(all, Process{PID: pid, Plugin: pluginName(cmdline)})
		}
	}
	for i := range all {
		rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", all[i].PID))
		if err != nil {
			return nil, fmt.Errorf("measure memory: %w", err)
		}
		if all[i].PSS, err = parsePSS(rollup); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// parseStat reads pid and parent of a /proc/PID/stat. The name in it, in
// parentheses, may hold anything.
func parseStat(stat []byte) (pid, parent int, ok bool) {
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return 0, 0, false
	}
	after := strings.Fields(string(stat[end+1:]))
	if len(after) < 2 {
		return 0, 0, false
	}
	pid, err1 := strconv.Atoi(strings.TrimSpace(string(stat[:open])))
	parent, err2 := strconv.Atoi(after[1])
	return pid, parent, err1 == nil && err2 == nil
}

// pluginName is the last argument of a command line.
func pluginName(cmdline []byte) string {
	args := strings.Split(strings.TrimRight(string(cmdline), "\x00"), "\x00")
	return filepath.Base(args[len(args)-1])
}

// parsePSS reads a /proc/PID/smaps_rollup.
func parsePSS(rollup []byte) (int64, error) {
	for line := range strings.Lines(string(rollup)) {
		f := strings.Fields(line)
		if len(f) == 3 && f[0] == "Pss:" && f[2] == "kB" {
			kb, err := strconv.ParseInt(f[1], 10, 64)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("measure memory: no Pss in %.100q", rollup)
}
