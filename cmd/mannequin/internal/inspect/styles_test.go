package inspect

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"mannequin/internal/testing/testcli"
)

func TestInspectStyles(t *testing.T) {
	path := testcli.Styles(t)
	r := describeStyles(path, testcli.Database())
	if b, err := json.Marshal(r); err != nil || !strings.Contains(string(b), `"style":"old"`) {
		t.Errorf("%v: %s", err, b)
	}
	if r.Kind != "database of styles" || r.Name != "few" || r.Joints != 25 || r.EndSites != 5 || len(r.Columns) != 78 || len(r.Actions) != 1 || len(r.Actions[0].Styles) != 3 || r.Licence != "CC0-1.0" {
		t.Errorf("%+v", r)
	}
	code, text, errs := mannequin("inspect", path)
	for _, want := range []string{"database of styles few", "1 actions in 3 styles", "25 joints, 5 End Sites, root Hips", "78: root height", "CC0-1.0", "proud", "# few"} {
		if code != 0 || !strings.Contains(text, want) {
			t.Errorf("exit %d: %s: no %q in\n%s", code, errs, want, text)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 0x40
	broken := testcli.WriteFile(t, t.TempDir(), "broken.safetensors", string(b))
	if code, text, errs := mannequin("inspect", broken); code != 1 || !strings.Contains(errs, "broken.safetensors") || text != "" {
		t.Errorf("a broken database: exit %d: %s%s", code, text, errs)
	}
}
