//go:build !js && (!linux || wayland)

package stage

// watchDisplay does nothing: this system does not report a lost display.
func watchDisplay() {}

func displayGone() bool { return false }

const goneMessage = "stage: the display has gone"
