package offscreen_test

import (
	"strings"
	"testing"

	"github.com/g3n/engine/camera"
	"github.com/g3n/engine/core"

	"mannequin/engine/offscreen"
)

// A second screen is refused while there is one, and leaves that as it is.
func TestOneScreen(t *testing.T) {
	s, err := offscreen.Open(16, 16, 1)
	if err != nil && strings.Contains(err.Error(), "render offscreen") {
		t.Skip(err) // no EGL
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := offscreen.Open(16, 16, 1); err == nil {
		t.Error("a second screen opens")
	}
	r, err := s.Renderer()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Draw(r, core.NewNode(), camera.New(1), nil); err != nil {
		t.Error(err)
	}
	s.Close()
	if s, err = offscreen.Open(16, 16, 1); err != nil {
		t.Fatal("after Close: ", err)
	}
}
