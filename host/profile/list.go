package profile

// Entry is one profile of a listing.
type Entry struct {
	Name        string
	Description string
	Path        string
	Strategy    string
	Project     bool
	Err         error    // why it cannot be used; then Strategy and Description are ""
	Profile     *Profile // nil with Err
}

// List returns the profiles that a name finds, sorted by name; one that is
// hidden by a nearer one of the same name is left out. Overrides and Flags are
// not applied.
func List(o Options) ([]Entry, error) {
	o.Overrides, o.Flags = nil, nil
	l, err := newLoader(o)
	if err != nil {
		return nil, err
	}
	names, err := l.names(0)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(names))
	for _, name := range names {
		f, ok := l.find(name, 0, "")
		if !ok {
			continue // a broken link, or gone since
		}
		e := Entry{Name: name, Path: f.path, Project: f.place == inProject}
		if p, err := Load(name, o); err != nil {
			e.Err = err
		} else {
			e.Profile, e.Description, e.Strategy, e.Project = p, p.Description, p.Compaction.Strategy, p.Project
		}
		entries = append(entries, e)
	}
	return entries, nil
}
