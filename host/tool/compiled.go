package tool

import (
	"encoding/json"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// compiled are the schemas that this process has compiled. A compiled one is only
// read, by any number of sessions.
var compiled schemas

// schemas keeps compiled schemas by their tool's name and their bytes. It is safe for
// concurrent use; the zero value is empty.
type schemas struct {
	mu    sync.Mutex
	known map[schemaKey]*jsonschema.Schema
	size  int // bytes of the sources
}

type schemaKey struct{ name, source string }

// maxSchemas bounds the sources that are kept, in bytes. Behind it all begins anew: a
// plugin whose tools change with each session must not fill the memory.
const maxSchemas = 4 << 20

// get compiles a schema, or returns the one that equal bytes came to before. One that
// does not compile is tried each time.
func (s *schemas) get(name string, source json.RawMessage) (*jsonschema.Schema, error) {
	key := schemaKey{name, string(source)}
	s.mu.Lock()
	schema := s.known[key]
	s.mu.Unlock()
	if schema != nil {
		return schema, nil
	}
	schema, err := compile(name, source)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || s.size+len(source) > maxSchemas {
		s.known, s.size = map[schemaKey]*jsonschema.Schema{}, 0
	}
	if s.known[key] == nil {
		s.size += len(source)
	}
	s.known[key] = schema
	return schema, nil
}
