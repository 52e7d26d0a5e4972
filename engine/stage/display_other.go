//go:build !js && (!linux || wayland)

package stage

// watchDisplay has nothing to do: nothing here is told of a display that goes.
func watchDisplay() {}

// displayGone is false.
func displayGone() bool { return false }

const goneMessage = "stage: the display has gone"
