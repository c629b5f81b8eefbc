package host_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/tureen-host/tureen/plugins/builtin"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// serve is the argument with which a host starts this binary as a shipped plugin.
const serve = "plugin-serve"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == serve {
		p, err := builtin.Lookup(os.Args[2], "test")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		sdk.Serve(p)
		return
	}
	os.Exit(m.Run())
}
