package motion

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mannequin/internal/atomicfile"
	"mannequin/internal/command"
	"mannequin/models"
	"mannequin/netruntime"
	"mannequin/offline/onnx"
)

func newExport() *cobra.Command {
	var out string
	var triton bool
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

With --triton, --out is a folder of models for NVIDIA Triton or KServe. The model becomes
OUT/NAME/1/model.onnx beside OUT/NAME/config.pbtxt, where NAME is the model's name.

Some operations have several formulations with the same result. The first is the default, for
most networks the fastest in ONNX Runtime on a processor:
` + strings.Join(forms, "\n"),
		Example: `  mannequin export dog --out dog.onnx
  mannequin export mine.safetensors --out mine.onnx --form blend=inputs
  mannequin export dog --triton --out repository`,
		Args: command.Want("one model", 1, 1),
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := onnx.Form(form).Validate(); err != nil {
			return command.Usagef("--form: %w", err)
		}
		if info, err := os.Stat(out); err == nil && info.IsDir() && !triton {
			return command.Usagef("%s: that is a folder, want a file", out)
		}
		net, err := models.Open(args[0])
		if err != nil {
			return err
		}
		b, err := onnx.Marshal(net, form)
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		path := out
		if triton {
			if path, err = writeTriton(out, cmp.Or(net.Meta().Name, args[0]), net); err != nil {
				return err
			}
		}
		if err := atomicfile.Write(path, func(w io.Writer) error { _, err := w.Write(b); return err }); err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d parameters, %.1f MB\n", path, net.Parameters(), float64(len(b))/1e6)
		return err
	}
	command.Out(c, &out, command.Either, "the ONNX `file` to write, or with --triton the folder of models")
	c.Flags().BoolVar(&triton, "triton", false, "write a folder that Triton and KServe serve")
	c.Flags().StringToStringVar(&form, "form", nil, "formulations of operations, such as `blend=inputs`; may be repeated")
	return c
}

// writeTriton makes a model's folders and writes its configuration. It returns the path of the model.
func writeTriton(repository, name string, net *netruntime.Net) (string, error) {
	config, err := onnx.TritonConfig(net, name)
	if err != nil {
		return "", err
	}
	version := filepath.Join(repository, name, "1")
	if err := os.MkdirAll(version, 0o777); err != nil {
		return "", err
	}
	path := filepath.Join(repository, name, "config.pbtxt")
	err = atomicfile.Write(path, func(w io.Writer) error { _, err := io.WriteString(w, config); return err })
	return filepath.Join(version, "model.onnx"), err
}
