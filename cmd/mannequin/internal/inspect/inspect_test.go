package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mannequin/animsys/feature"
	"mannequin/internal/command"
	"mannequin/internal/testing/testcli"
	"mannequin/netruntime"
)

// inspectedModel returns a model file of one expert for the dog's layout.
func inspectedModel(t *testing.T, bf16 bool) []byte {
	t.Helper()
	layout := feature.Dog()
	schema, err := json.Marshal(layout)
	if err != nil {
		t.Fatal(err)
	}
	in, out, g := layout.Inputs(), layout.Outputs(), len(layout.Gating())
	tensor := func(name string, shape ...int) netruntime.Tensor {
		n := 1
		for _, d := range shape {
			n *= d
		}
		return netruntime.Tensor{Name: name, Shape: shape, Data: make([]float32, n)}
	}
	tensors := []netruntime.Tensor{tensor("x_mean", in), tensor("x_std", in), tensor("y_mean", out), tensor("y_std", out)}
	for i, s := range [][4]int{{2, g, 3, in}, {2, 2, 3, 3}, {1, 2, out, 3}} {
		tensors = append(tensors,
			tensor(fmt.Sprintf("gating.%d.weight", i), s[0], s[1]), tensor(fmt.Sprintf("gating.%d.bias", i), s[0]),
			tensor(fmt.Sprintf("experts.%d.weight", i), 1, s[2], s[3]), tensor(fmt.Sprintf("experts.%d.bias", i), 1, s[2]))
	}
	net, err := netruntime.New(netruntime.Meta{Name: "tiny", Arch: "mann", Schema: string(schema), SchemaHash: layout.Hash(),
		GatingColumns: layout.Gating(), License: "CC0", Data: "none at all", Card: "# Tiny\nfor a test", Metrics: `{"loss": 0.5}`}, tensors)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	encode := net.Encode
	if bf16 {
		encode = net.EncodeBF16
	}
	if err := encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestInspectModel(t *testing.T) {
	dir := t.TempDir()
	for _, bf16 := range []bool{false, true} {
		data := inspectedModel(t, bf16)
		path := filepath.Join(dir, "tiny.bin") // known by its content
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		code, out, errs := mannequin("inspect", path, "--json")
		var r modelReport
		if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
			t.Fatalf("code %d, %v, %s", code, err, errs)
		}
		storage := []string{"F32"}
		if bf16 {
			storage = []string{"BF16", "F32"}
		}
		if r.Architecture != "mann" || r.Inputs != 480 || r.Outputs != 363 || r.Sizes["experts"] != "1" || r.Bytes != len(data) ||
			r.SchemaHash != feature.Dog().Hash() || r.Licence != "CC0" || r.Data != "none at all" || !strings.Contains(r.Card, "for a test") ||
			!slices.Equal(r.Storage, storage) || len(r.Gating) != 19 || r.Parameters == 0 {
			t.Errorf("%+v", r)
		}
		var metrics struct{ Loss float64 }
		if err := json.Unmarshal(r.Metrics, &metrics); err != nil || metrics.Loss != 0.5 {
			t.Errorf("metrics %s", r.Metrics)
		}
		code, out, _ = mannequin("inspect", path)
		for _, want := range []string{"480 inputs", "363 outputs", "experts 1", "CC0", "27 joints, actions idle move", "# Tiny", strings.Join(storage, " and ")} {
			if code != 0 || !strings.Contains(out, want) {
				t.Errorf("code %d, no %q in\n%s", code, want, out)
			}
		}
	}
}

// A card speaks to the reader, not to the terminal.
func TestPlain(t *testing.T) {
	if got := command.Plain("# Card\x1b[31m\a\r\n\tä\u009b2J"); got != "# Card[31m\n\tä2J" {
		t.Errorf("%q", got)
	}
}

func TestInspectDamagedModel(t *testing.T) {
	dir := t.TempDir()
	data := inspectedModel(t, false)
	for _, n := range []int{0, 4, 8, 9, 100, len(data) / 2, len(data) - 1} {
		path := filepath.Join(dir, "cut.safetensors")
		if err := os.WriteFile(path, data[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		code, out, errs := mannequin("inspect", path)
		if code != 1 || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, path) {
			t.Errorf("%d bytes: code %d, %q, %q", n, code, out, errs)
		}
	}
}

// mannequin runs one command line as a user would.
func mannequin(args ...string) (code int, stdout, stderr string) {
	return testcli.Run(testcli.Root(New()), args...)
}
