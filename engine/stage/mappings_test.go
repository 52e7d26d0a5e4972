package stage

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

const (
	someGUID    = "030000005e0400008e02000014010000"
	someMapping = someGUID + ",Some Pad,a:b0,b:b1,dpup:h0.1,leftx:a0,lefty:a1~,lefttrigger:+a2,misc1:b15,"
)

func TestMappings(t *testing.T) {
	here, other := platforms[runtime.GOOS], "Amiga"
	for name, c := range map[string]struct{ text, want string }{
		"nothing":            {"", ""},
		"one":                {someMapping, someMapping + "\n"},
		"comments and CR":    {"# pads\r\n\r\n" + someMapping + "\r\n", someMapping + "\n"},
		"for this system":    {someMapping + "platform:" + here, someMapping + "platform:" + here + "\n"},
		"for another system": {someMapping + "platform:" + other + "\n" + someMapping, someMapping + "\n"},
		"half an axis":       {someMapping + "-leftx:h0.8", ""}, // glfw has no such thing
	} {
		if got, err := checkMappings("x", c.text); err != nil || got != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for text, want := range map[string]string{
		"hello":                "line 1",
		"\n\n" + someGUID:      "line 3",
		someGUID + ",Some Pad": "name",
		someGUID + ",,a:b0":    "name",
		someGUID + "," + strings.Repeat("n", 128) + ",a:b0": "127",
		someGUID[1:] + ",Pad,a:b0":                          "32",
		someMapping + "leftx":                               "leftx",
		someMapping + "rightx:":                             "rightx",
		someMapping + "rightx:q1":                           "rightx:q1",
		someMapping + "dpdown:h0":                           "dpdown:h0", // which glfw would read past
		someMapping + "x:b999":                              "b999",
		someMapping + strings.Repeat("y:b1,", 300):          "1023",
		someGUID + ",P\x00d,a:b0":                           "name",
	} {
		if got, err := checkMappings("the file", text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "the file, line") {
			t.Errorf("%.60q: %q, %v; want an error with %q", text, got, err, want)
		}
	}
}

// Both variables count, and an error in either is reported.
func TestGamepadMappings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db.txt")
	must.Do(t, os.WriteFile(path, []byte(someMapping+"\n"), 0o600))
	other := strings.Replace(someMapping, "Some", "Other", 1)
	t.Setenv(mappingsVar, other)
	t.Setenv(mappingsFileVar, path)
	if got, err := GamepadMappings(); err != nil || got != someMapping+"\n"+other+"\n" {
		t.Errorf("%q, %v", got, err)
	}
	t.Setenv(mappingsVar, "bad")
	if _, err := GamepadMappings(); err == nil || !strings.Contains(err.Error(), mappingsVar) {
		t.Errorf("a bad variable: %v", err)
	}
	t.Setenv(mappingsFileVar, path+"x")
	if _, err := GamepadMappings(); err == nil || !strings.Contains(err.Error(), path+"x") {
		t.Errorf("an absent file: %v", err)
	}
}

// Checking is idempotent, and lines fit glfw's buffer.
func FuzzMappings(f *testing.F) {
	f.Add(someMapping)
	f.Add("# x\n" + someMapping + "platform:Linux\n" + someMapping + "+leftx:a1")
	f.Add(someGUID + ",,\x00")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := checkMappings("x", text)
		if err != nil {
			return
		}
		if again, err := checkMappings("x", got); err != nil || again != got {
			t.Errorf("%q becomes %q, %v", got, again, err)
		}
		for _, l := range strings.Split(got, "\n") {
			if len(l) > 1023 || strings.ContainsAny(l, "\x00\r") {
				t.Errorf("kept %q", l)
			}
		}
	})
}
