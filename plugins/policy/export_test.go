package policy

// Unenforced makes a Provider as on a machine whose system binds no commands.
func Unenforced(config Config) *Provider {
	p := New(config)
	p.enforced = false
	return p
}
