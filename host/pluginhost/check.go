package pluginhost

import (
	"encoding/json"

	"github.com/tureen-host/tureen/plugins/sdk"
)

// CheckConfig holds the config of a Spec against its plugin's schema, nil where
// the plugin takes no config, without starting anything. What does not fit is a
// *ConfigError.
func CheckConfig(spec Spec, schema json.RawMessage) error {
	_, err := checkConfig(spec, sdk.Info{ConfigSchema: schema})
	return err
}
