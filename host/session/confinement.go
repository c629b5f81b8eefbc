package session

// FilePolicy says which files a call may change (T17).
type FilePolicy string

const (
	FilesFull           FilePolicy = "full" // as "": whatever the user may
	FilesWorkspaceWrite FilePolicy = "workspace-write"
	FilesReadOnly       FilePolicy = "read-only"
)

// narrowness orders policies; an unknown one is the narrowest.
func (p FilePolicy) narrowness() int {
	switch p {
	case "", FilesFull:
		return 0
	case FilesWorkspaceWrite:
		return 1
	}
	return 2
}

// Confinement is what a call may touch. The zero value binds nothing. The tool
// enforces it, with the operating system's help where there is any.
type Confinement struct {
	Files FilePolicy `json:"files,omitempty"`
	// Writable are absolute directories that may be written besides the workspace
	// and the temporary directory, under workspace-write.
	Writable []string `json:"writable,omitempty"`
	// Offline forbids connections to other machines.
	Offline bool `json:"offline,omitempty"`
}

// Free tells whether nothing is bound.
func (c Confinement) Free() bool { return c.Files.narrowness() == 0 && !c.Offline }

// With returns what both allow.
func (c Confinement) With(d Confinement) Confinement {
	out := c
	if d.Files.narrowness() > c.Files.narrowness() {
		out.Files, out.Writable = d.Files, d.Writable
	} else if d.Files.narrowness() == c.Files.narrowness() && c.Files == FilesWorkspaceWrite {
		out.Writable = nil
		for _, dir := range c.Writable {
			for _, other := range d.Writable {
				if dir == other {
					out.Writable = append(out.Writable, dir)
				}
			}
		}
	}
	out.Offline = c.Offline || d.Offline
	return out
}
