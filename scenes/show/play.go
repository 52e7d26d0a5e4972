package show

import (
	"slices"
	"time"

	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/engine/stage"
	"mannequin/scenes"
)

// Play handles the user's input from a Poll of the stage, dt after the last one. It moves the
// camera, handles pause, slow motion and single steps, and takes the steps that are due. If script
// is not nil, it returns the input of each tick instead of the user. Time stops while the window is
// hidden.
func (w *Show) Play(c stage.Controls, dt time.Duration, script func() scenes.Input) error {
	if c.Hidden {
		dt = 0
	}
	hit := func(k stage.Key, b stage.Button) bool { return c.Hit[k] || c.Gamepad.Hit[b] }
	if hit(stage.Letter('P'), stage.ButtonStart) {
		w.pace.paused = !w.pace.paused
	}
	if w.pace.paused && hit(stage.KeyPeriod, stage.ButtonLeftStick) {
		w.pace.steps++
	}
	if c.Hit[stage.KeyComma] || !w.pace.paused && c.Gamepad.Hit[stage.ButtonLeftStick] { // after the slowest, real time
		w.pace.slow = (w.pace.slow + 1) % (slowest + 1)
	}
	if c.Hit[stage.Letter('H')] {
		w.bare = !w.bare
	}
	w.choose(&c)
	cam := w.Stage.Camera
	if hit(stage.Letter('F'), stage.ButtonRightStick) {
		cam.Follow = !w.Free
	}
	orbit(cam, &c.Gamepad, float32(dt.Seconds()))
	if w.Frame.InWorld { // else somebody who holds the stick aside would go in a small circle
		cam.Swing *= calm
		if c.Held[stage.Letter('S')] || c.Held[stage.KeyDown] {
			cam.Swing = 0
		}
	}
	w.notices.pass(dt, c.Notices)
	w.player.observe(c, &w.Frame.Panel)
	if script == nil {
		script = func() scenes.Input {
			return w.WithCamera(w.player.input(m3.YawOf(cam.Ahead()), w.Frame.Heading, w.Frame.InWorld))
		}
	}
	return w.Advance(dt, script)
}

// calm is how fast the camera turns with a character that is steered on the screen, as a share of the usual.
const calm = 0.35

// orbit moves the camera by gamepad: the right stick turns it, the triggers zoom.
func orbit(cam *stage.Camera, g *stage.Gamepad, dt float32) {
	const (
		turning, tilting = 2.6, 1.6 // rad/s
		zooming          = 1.1      // e-folds of the distance per second
	)
	// When the character walks towards the camera, the camera does not swing around it.
	cam.Swing = m3.Clamp(1+g.Left.Y, 0, 1)
	if g.Right != (stage.Stick{}) {
		cam.Orbit(-turning*dt*g.Right.X, -tilting*dt*g.Right.Y)
		cam.Follow = false
	}
	if pull := g.LT - g.RT; pull != 0 {
		cam.Zoom(m3.Exp(zooming * pull * dt))
	}
}

// CameraHelp returns help for the keys that work in every scene, for a scene with the overlays has.
func CameraHelp(has hud.Overlay) []string {
	help := []string{
		"drag: look around   wheel: nearer, farther   F: follow again",
		"P: pause   full stop: single step   comma: slow motion",
	}
	if has != 0 {
		help = append(help, has.Keys()+": overlays   Tab: show or hide their panel")
	}
	return help
}

const leaveHelp = "H: hide this   Esc: leave"

// gamepadHelp is the same for gamepads.
var gamepadHelp = []string{
	"right stick: look around   LT RT: farther, nearer   right stick pressed: follow again",
	"Start: pause   left stick pressed: slow motion; when paused: single step",
	leaveHelp,
}

// Help returns the help for keys, or for gamepads if the user's last input came from one. It
// returns nothing if the user hid it.
func (w *Show) Help() []string {
	if w.bare {
		return nil
	}
	if w.player.byPad {
		return slices.Concat(w.Frame.GamepadHelp, gamepadHelp)
	}
	return append(slices.Concat(w.Frame.Help, CameraHelp(w.Frame.Has)), leaveHelp)
}
