// Package profile reads profiles: it decodes TOML, merges the layers that make
// up a profile, checks every value, and remembers where each came from. It
// starts nothing and wires nothing.
//
// From the highest layer to the lowest: flags, -c key=value, the profile, the
// base that it extends, OPENAI_BASE_URL (base_url alone), the user's
// settings.toml, the built-in defaults. Tables merge key by key, lists are
// replaced whole. Two things belong together and are dropped together: a layer
// that names another provider starts [model] and [price] afresh, and one that
// names another model drops the [price] below it.
package profile
