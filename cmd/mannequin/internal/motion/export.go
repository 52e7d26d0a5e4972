package motion

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/offline/onnx"
)

func newExport() *cobra.Command {
	var out string
	var form map[string]string
	var forms []string
	for _, op := range slices.Sorted(maps.Keys(onnx.Forms())) {
		forms = append(forms, fmt.Sprintf("  %s=%s", op, strings.Join(onnx.Forms()[op], "|")))
	}
	c := &cobra.Command{
		Use:   "export MODEL --out OUT.onnx",
		Short: "Write a model for other programs, as ONNX",
		Long: `Write a shipped model or a model file as ONNX (opset 17), in float32. Inputs and outputs are
raw, as in our own sessions: the network normalises them itself. The batch, and the length of
sequences, are chosen at each run.

Some operations have several formulations with the same result. The first is the default, for
most networks the fastest in ONNX Runtime on a processor:
` + strings.Join(forms, "\n"),
		Example: `  mannequin export dog --out dog.onnx
  mannequin export mine.safetensors --out mine.onnx --form blend=inputs`,
		Args: command.Want("one model", 1, 1),
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := onnx.Form(form).Validate(); err != nil {
			return command.Usagef("--form: %w", err)
		}
		net, err := models.Open(args[0])
		if err != nil {
			return err
		}
		b, err := onnx.Marshal(net, form)
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		if err := atomicfile.Write(out, func(w io.Writer) error { _, err := w.Write(b); return err }); err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d parameters, %.1f MB\n", out, net.Parameters(), float64(len(b))/1e6)
		return err
	}
	command.Out(c, &out, command.File, "the ONNX `file` to write")
	c.Flags().StringToStringVar(&form, "form", nil, "formulations of operations, such as `blend=inputs`; may be repeated")
	return c
}
