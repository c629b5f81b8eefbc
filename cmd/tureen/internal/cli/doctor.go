package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/profile"
)

// Verdicts of a check.
const (
	verdictOK   = "ok"
	verdictWarn = "warn"
	verdictFail = "fail"
)

// finding is a row of doctor.
type finding struct {
	Area   string `json:"area"` // program, paths, profile, plugins, endpoint
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warn or fail
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
	exit   int    // of a failure
}

// doctor looks at one thing after another.
type doctor struct {
	*app
	area string
	rows []finding
}

func (d *doctor) ok(check, format string, args ...any) {
	d.add(verdictOK, 0, "", check, format, args...)
}

func (d *doctor) warn(hint, check, format string, args ...any) {
	d.add(verdictWarn, 0, hint, check, format, args...)
}

func (d *doctor) fail(exit int, hint, check, format string, args ...any) {
	d.add(verdictFail, exit, hint, check, format, args...)
}

// failed adds an error as the rest of the program would report it, with the exit
// code of the area.
func (d *doctor) failed(exit int, check string, err error) {
	f := faultOf(err)
	d.fail(exit, f.Hint, check, "%s", f.Message)
}

func (d *doctor) add(status string, exit int, hint, check, format string, args ...any) {
	d.rows = append(d.rows, finding{d.area, check, status, fmt.Sprintf(format, args...), hint, exit})
}

// exit is the code of the first failure.
func (d *doctor) exit() int {
	for _, r := range d.rows {
		if r.Status == verdictFail {
			return r.exit
		}
	}
	return exitCompleted
}

func (a *app) doctorCommand() *cobra.Command {
	var asJSON, probe bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look whether everything is in place",
		Long: `Doctor looks at directories, versions, the profile in force and the plugins, and
with --probe at the endpoint: it asks for the models and makes one tiny request
with a tool declared, which costs a few tokens. Without --probe nothing is asked
of the network. Keys are never shown.

The exit code is 0 unless a check fails; else that of the first which does: 9
directories and sessions, 2 profile, 7 plugins, 8 endpoint.`,
		Example: `  tureen doctor
  tureen doctor -P deepseek --probe
  tureen doctor --json | jq '.checks[] | select(.status != "ok")'`,
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := doctor{app: a}
			d.examine(cmd.Context(), probe)
			if cause := context.Cause(cmd.Context()); cause != nil {
				return cause
			}
			exit := d.exit()
			report := struct {
				OK       bool      `json:"ok"`
				ExitCode int       `json:"exit_code"`
				Checks   []finding `json:"checks"`
			}{exit == exitCompleted, exit, d.rows}
			if err := a.print(asJSON, report, d.write); err != nil {
				return err
			}
			if exit != exitCompleted {
				return silentExit(exit)
			}
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&probe, "probe", false, "ask the endpoint too; costs a few tokens")
	return cmd
}

func (d *doctor) examine(ctx context.Context, probe bool) {
	d.area = "program"
	d.program()
	d.area = "paths"
	d.paths(ctx)
	d.area = "profile"
	p := d.profileInForce()
	d.area = "plugins"
	d.plugins(ctx, p)
	d.area = "endpoint"
	d.endpoint(ctx, p, probe)
}

func (d *doctor) program() {
	v := versions()
	d.ok("tureen", "%s (%s, %s)", v.Version, v.Go, v.System)
	d.ok("formats", "plugin protocol %s, log schema %d", v.Protocol, v.LogSchema)
}

// profileInForce checks the profile; nil where it must not be used.
func (d *doctor) profileInForce() *profile.Profile {
	o, err := d.profileOptions("")
	if err != nil {
		d.failed(exitUsage, "profile", err)
		return nil
	}
	p, err := profile.Load(d.globals.profile, o)
	if err == nil {
		_, err = checkedPlugins(p)
	}
	if err != nil {
		d.failed(exitUsage, "profile", err)
		return nil
	}
	d.ok("profile", "%s (%s), strategy %s", plain(p.Name), plain(p.Path), plain(p.Compaction.Strategy))
	for _, w := range p.Warnings {
		message, hint := advice(w.Error())
		d.warn(hint, "profile", "%s", message)
	}
	book, err := d.trustBook()
	if err != nil {
		d.failed(exitUsage, "trust", err)
		return nil
	}
	if f := refusal(book, p); f != nil {
		d.fail(exitUsage, f.Hint, "trust", "%s", f.Message)
		return nil
	}
	return p
}

func (d *doctor) write(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range d.rows {
		// A hint stands below, in the column of the details.
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\n", r.Status, r.Area, r.Check, strings.ReplaceAll(render.Plain(r.Detail), "\n", "\n\t\t\t"))
		if r.Hint != "" {
			fmt.Fprintf(tab, "\t\t\thint: %s\n", render.Plain(r.Hint))
		}
	}
	return tab.Flush()
}
