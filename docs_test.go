package mannequin_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test that docs/reliability.md names exists: "animsys.TestStairs" is in the folder animsys,
// and "mannequin.TestImports" in this one.
func TestNamedTests(t *testing.T) {
	doc, err := os.ReadFile("docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz)[A-Za-z0-9]+)`").FindAllStringSubmatch(string(doc), -1)
	if len(names) < 50 {
		t.Errorf("only %d names of tests found", len(names))
	}
	sources := map[string]string{}
	for _, n := range names {
		folder := strings.TrimPrefix(n[1], "mannequin")
		if _, ok := sources[folder]; !ok {
			files, _ := filepath.Glob(filepath.Join(".", folder, "*_test.go"))
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				sources[folder] += string(b)
			}
		}
		if !strings.Contains(sources[folder], "\nfunc "+n[2]+"(") {
			t.Errorf("%s.%s does not exist", n[1], n[2])
		}
	}
}
