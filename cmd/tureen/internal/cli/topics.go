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
	text.WriteString("The events of -o stream-json.\n\n")
	render.WriteTypes(&text)
	return &cobra.Command{Use: "events", Short: "The events of -o stream-json", Long: text.String()}
}
