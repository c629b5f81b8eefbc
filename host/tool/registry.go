package tool

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/tureen-host/tureen/host/llm"
)

// Registry holds the tools of a session. It is fixed once built and safe for
// concurrent use.
type Registry struct {
	entries []entry // in the order the model sees
	byName  map[string]int
	digest  string
}

type entry struct {
	spec     Spec
	provider Provider
	schema   *jsonschema.Schema
}

var nameRule = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// NewRegistry asks the providers for their tools, in order. Two tools of one
// name, a bad name or a schema that does not compile are errors that name the
// plugin; of several the first is told.
func NewRegistry(ctx context.Context, session string, providers []Provider) (*Registry, error) {
	r := &Registry{byName: map[string]int{}}
	later := r.collect(ctx, session, providers) // what stands before it goes first
	if err := r.compile(); err != nil {
		return nil, err
	}
	if later != nil {
		return nil, later
	}
	declarations, err := json.Marshal(r.Declarations())
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(declarations)
	r.digest = hex.EncodeToString(sum[:])
	return r, nil
}

// collect lists the tools up to the first that cannot be taken.
func (r *Registry) collect(ctx context.Context, session string, providers []Provider) error {
	for _, p := range providers {
		specs, err := p.Tools(ctx, session)
		if err != nil {
			return fmt.Errorf("list the tools of plugin %q: %w", p.Name(), err)
		}
		for _, s := range specs {
			if err := r.add(p, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Registry) add(p Provider, s Spec) error {
	if !nameRule.MatchString(s.Name) {
		return fmt.Errorf("plugin %q offers a tool named %q; a name is 1 to 64 of A-Z a-z 0-9 _ -", p.Name(), s.Name)
	}
	if i, taken := r.byName[s.Name]; taken {
		return fmt.Errorf("plugins %q and %q both offer a tool named %q; remove one of them from the profile", r.entries[i].provider.Name(), p.Name(), s.Name)
	}
	r.byName[s.Name] = len(r.entries)
	r.entries = append(r.entries, entry{spec: s, provider: p})
	return nil
}

// compile compiles the schemas side by side: it is most of what a start costs here.
// Sessions beside each other share them.
func (r *Registry) compile() error {
	errs := make([]error, len(r.entries))
	var all sync.WaitGroup
	for i := range r.entries {
		all.Go(func() {
			e := &r.entries[i]
			if e.schema, errs[i] = compiled.get(e.spec.Name, e.spec.Schema); errs[i] != nil {
				errs[i] = fmt.Errorf("plugin %q: the schema of tool %q: %w", e.provider.Name(), e.spec.Name, errs[i])
			}
		})
	}
	all.Wait()
	return cmp.Or(errs...)
}

// Declarations returns the tools as the model sees them, always in the same
// order and bytes (SP8).
func (r *Registry) Declarations() []llm.Tool {
	out := make([]llm.Tool, len(r.entries))
	for i, e := range r.entries {
		out[i] = llm.Tool{Name: e.spec.Name, Description: e.spec.Description, Schema: e.spec.Schema}
	}
	return out
}

// Digest is the hex SHA-256 of the declarations.
func (r *Registry) Digest() string { return r.digest }

// Has tells whether a tool is visible.
func (r *Registry) Has(name string) bool {
	_, ok := r.byName[name]
	return ok
}

// Specs returns the tools' own declarations, in order.
func (r *Registry) Specs() []Spec {
	out := make([]Spec, len(r.entries))
	for i, e := range r.entries {
		out[i] = e.spec
	}
	return out
}

// Lookup returns a tool and its provider.
func (r *Registry) Lookup(name string) (Spec, Provider, bool) {
	i, ok := r.byName[name]
	if !ok {
		return Spec{}, nil, false
	}
	return r.entries[i].spec, r.entries[i].provider, true
}

// Parallel tells whether calls of that name may run beside each other. A name
// that nobody offers is exclusive (L19).
func (r *Registry) Parallel(name string) bool {
	i, ok := r.byName[name]
	return ok && r.entries[i].spec.Parallel
}
