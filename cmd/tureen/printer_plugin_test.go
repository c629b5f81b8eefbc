package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// printerName is the plugin whose tool print answers with a long text.
const printerName = "printer"

func servePrinter() {
	sdk.Serve(sdk.Plugin{Name: printerName, Version: "1.0.0", Roles: []sdk.Role{sdk.RoleTools},
		Start: func(context.Context, sdk.Init) (sdk.Services, error) { return sdk.Services{Tools: printer{}}, nil }})
}

type printer struct{}

func (printer) Name() string { return printerName }

func (printer) Tools(context.Context, string) ([]tool.Spec, error) {
	return []tool.Spec{{Name: "print", Description: "Prints a text.", Parallel: true,
		Schema: json.RawMessage(`{"type":"object","properties":{"what":{"type":"string"}},"required":["what"]}`)}}, nil
}

func (printer) Call(_ context.Context, call tool.Call, _ func(string)) (tool.Result, error) {
	var args struct{ What string }
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return tool.Result{}, err
	}
	if args.What == "steers" {
		fmt.Fprintln(os.Stderr, moving)
	}
	return tool.Result{Text: printed(args.What), IsError: args.What == "failed"}, nil
}

// moving is what a terminal must not be told: to write the clipboard, to link, clear,
// answer and change its title, in both forms of control characters; to write over a
// line; to turn its direction. Its end never comes.
const moving = "good\x1b]52;c;b3duZWQ=\a\x1b]8;;http://127.0.0.1/\x1b\\link\x1b]8;;\x1b\\\x1b[2J\x1b[6n\x1bP1$r\x1b\\" +
	"\u009b31m\u009d0;title\u009c\u0090q\u009c\roverwritten\u202edenrut\u202c\u2066alone\u2069\x1b]0;without end"

// printed are the texts by name.
func printed(what string) string {
	lines := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "line %d says what a line says\n", i+1)
		}
		return b.String()
	}
	switch what {
	case "short":
		return "short"
	case "twelve": // thousand tokens
		return strings.Repeat("ab\n", 12_000)
	case "failed":
		return "Error: " + lines(3000)
	case "lines":
		return lines(100_000)
	case "wide":
		return strings.Repeat("x", 1_499_990) + " the NEEDLE is here " + strings.Repeat("y", 1_499_990)
	case "odd":
		return strings.Repeat("\x1b[1mbold\x1b[0m nul\x00 bad\xff\xed\xa0\x80 👩‍💻 e\u0301\r\n", 5000)
	case "steers":
		return moving
	case "most": // what a message to the host can hold
		return strings.Repeat("0123456789abcdef<&>\n", 34<<20/10/20)
	case "longest": // over many messages
		return strings.Repeat("0123456789abcdef<&>\n", 40<<20/20)
	}
	return "nothing"
}
