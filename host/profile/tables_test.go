package profile_test

import (
	"slices"
	"testing"
)

// One key of a row's config can be set without writing all rows anew.
func TestPluginTablesAreLaidOverTheRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("p.toml", "schema = 1\n[[plugins]]\nuse = \"policy\"\nconfig = { approval = \"ask\", files = \"full\" }\n[[plugins]]\nuse = \"files\"\n[plugin.policy]\napproval = \"never\"\n")
	p := w.load("./p.toml", `plugin.policy.deny=["shell: git push *"]`)
	if got := string(p.Plugins[0].Config); got != `{"approval":"never","deny":["shell: git push *"],"files":"full"}` {
		t.Errorf("the row's config is %s", got)
	}
	if got := string(p.Plugins[1].Config); got != "{}" || !slices.Equal(p.PluginTables, []string{"policy"}) {
		t.Errorf("the other row's config is %s, tables %v", got, p.PluginTables)
	}
}
