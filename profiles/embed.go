// Package profiles holds the profiles that ship with the program.
package profiles

import "embed"

// FS holds NAME.toml for each shipped profile.
//
//go:embed *.toml
var FS embed.FS
