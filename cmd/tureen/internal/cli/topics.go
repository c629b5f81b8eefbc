package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
)

// exitCodesTopic is `tureen help exit-codes`.
func exitCodesTopic() *cobra.Command {
	var text strings.Builder
	text.WriteString("The exit code tells how a run ended. -o json and run.completed have the same number in\nexit_code, and the status beside it.\n\n")
	writeExitCodes(&text)
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: text.String()}
}

// eventsTopic is `tureen help events`.
func eventsTopic() *cobra.Command {
	var text strings.Builder
	text.WriteString("The events of -o stream-json. tureen schema prints the same as a JSON Schema.\n\n")
	render.WriteTypes(&text)
	return &cobra.Command{Use: "events", Short: "The events of -o stream-json", Long: text.String()}
}

// schemaCommand is the same for programs.
func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of -o stream-json and -o json",
		Long: `Schema prints a JSON Schema (draft 2020-12). A line of -o stream-json is an instance
of it; $defs has one entry a type of event, and $defs/result is the object of -o json.`,
		Example: `  tureen schema > tureen.schema.json
  tureen schema | jq '."$defs"."run.completed"'`,
		Args: arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error { return a.print(true, render.Schema(), nil) },
	}
}
