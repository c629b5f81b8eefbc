package instructions

// PluginAt is Plugin with a clock of the test's own.
var PluginAt = pluginAt
