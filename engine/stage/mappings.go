package stage

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"

	"mannequin/internal/boundedfile"
)

// Environment variables with gamepad mappings, the same as for programs that use SDL.
const (
	mappingsVar     = "SDL_GAMECONTROLLERCONFIG"      // mappings, one a line
	mappingsFileVar = "SDL_GAMECONTROLLERCONFIG_FILE" // path of a file of mappings, such as gamecontrollerdb.txt
)

// maxMappings limits the size of a file of mappings; the community's database has half a megabyte.
const maxMappings = 4 << 20

// GamepadMappings returns the user's mappings for Options.Gamepads: first the file that
// SDL_GAMECONTROLLERCONFIG_FILE names, then SDL_GAMECONTROLLERCONFIG from the environment.
func GamepadMappings() (string, error) {
	inFile := ""
	if path := os.Getenv(mappingsFileVar); path != "" {
		b, err := boundedfile.Read(path, maxMappings)
		if err != nil {
			return "", fmt.Errorf("stage: %s: %w", mappingsFileVar, err)
		}
		if inFile, err = checkMappings(path, string(b)); err != nil {
			return "", err
		}
	}
	more, err := checkMappings(mappingsVar, os.Getenv(mappingsVar))
	return inFile + more, err
}

// Parts of a mapping.
var (
	guidForm    = regexp.MustCompile(`^[0-9a-fA-F]{32}$`)
	elementForm = regexp.MustCompile(`^([+-]?a[0-9]{1,2}~?|b[0-9]{1,2}|h[0-9]\.[0-9]{1,2})$`)
)

// elements are the fields of a mapping that glfw reads.
var elements = map[string]bool{
	"a": true, "b": true, "x": true, "y": true, "back": true, "start": true, "guide": true, "leftshoulder": true, "rightshoulder": true,
	"leftstick": true, "rightstick": true, "dpup": true, "dpright": true, "dpdown": true, "dpleft": true, "lefttrigger": true,
	"righttrigger": true, "leftx": true, "lefty": true, "rightx": true, "righty": true,
}

// platforms are the names of operating systems in mappings.
var platforms = map[string]string{"linux": "Linux", "windows": "Windows", "darwin": "Mac OS X"}

// checkMappings returns this system's mappings in text, a line each. It fails on a line that is
// none: glfw would skip it or read past its end. from names the text.
func checkMappings(from, text string) (string, error) {
	var out strings.Builder
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		keep, err := checkMapping(line)
		if err != nil {
			return "", fmt.Errorf("stage: gamepad mappings: %s, line %d: %w", from, n+1, err)
		}
		if keep {
			out.WriteString(line)
			out.WriteByte('\n')
		}
	}
	return out.String(), nil
}

// checkMapping reports whether a mapping is for this system and of a kind that glfw knows.
func checkMapping(line string) (keep bool, err error) {
	const longest = 1023 // glfw's
	if len(line) > longest {
		return false, fmt.Errorf("%d characters: want at most %d", len(line), longest)
	}
	parts := strings.Split(strings.TrimRight(line, ","), ",")
	if !guidForm.MatchString(parts[0]) {
		return false, fmt.Errorf("%.40q: want 32 hexadecimal digits, a name and the elements: GUID,name,a:b0,leftx:a0,…", parts[0])
	}
	if len(parts) < 3 || parts[1] == "" || len(parts[1]) > 127 || strings.ContainsFunc(parts[1], func(r rune) bool { return r < ' ' }) {
		return false, fmt.Errorf("want a name of up to 127 characters after the GUID, and the elements: GUID,name,a:b0,leftx:a0,…")
	}
	keep = true
	for _, part := range parts[2:] {
		field, at, ok := strings.Cut(part, ":")
		switch {
		case part == "":
		case !ok || at == "" || strings.ContainsFunc(part, func(r rune) bool { return r < ' ' }):
			return false, fmt.Errorf("%.40q: want a field and its source, such as leftx:a0", part)
		case field == "platform":
			keep = keep && at == platforms[runtime.GOOS]
		case strings.HasPrefix(field, "+") || strings.HasPrefix(field, "-"):
			keep = false // half an axis, which glfw does not know
		case elements[field] && !elementForm.MatchString(at):
			return false, fmt.Errorf("%.40q: want a button (b0), an axis (a0, +a0, -a0, a0~) or a direction of a hat (h0.1)", part)
		}
	}
	return keep, nil
}
