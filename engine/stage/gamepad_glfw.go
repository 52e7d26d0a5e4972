//go:build !js

package stage

import "github.com/go-gl/glfw/v3.3/glfw"

// glfwJoysticks are the devices that glfw has, with its mappings.
type glfwJoysticks struct{}

func (glfwJoysticks) read(slot int, r *reading) (present, mapped bool) {
	j := glfw.Joystick(slot)
	if !j.Present() {
		return false, false
	}
	s := j.GetGamepadState() // nil without a mapping
	if s == nil {
		return j.Present(), false // it may have gone while it was read
	}
	r.axes = s.Axes
	for b := range r.buttons {
		r.buttons[b] = s.Buttons[b] == glfw.Press
	}
	return true, true
}

func (glfwJoysticks) name(slot int) string {
	j := glfw.Joystick(slot)
	if name := j.GetGamepadName(); name != "" {
		return name
	}
	return j.GetName()
}
