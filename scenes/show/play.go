package show

import (
	"slices"
	"time"

	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/engine/stage"
	"mannequin/scenes"
)

// Play does what the user asks for, as of a Poll of the stage that dt passed before: it
// moves the camera, lets time pass, slowly, step by step or not at all, and takes the
// steps that this calls for. script, where it is not nil, is the input of ticks in the
// user's place. Time stands still where the window is hidden.
func (w *Show) Play(c stage.Controls, dt time.Duration, script func() scenes.Input) error {
	if c.Hidden {
		dt = 0
	}
	hit := func(k stage.Key, b stage.Button) bool { return c.Hit[k] || c.Gamepad.Hit[b] }
	if hit(stage.Letter('P'), stage.ButtonStart) {
		w.pace.pause()
	}
	if c.Hit[stage.KeyPeriod] || w.pace.paused && c.Gamepad.Hit[stage.ButtonLeftStick] {
		w.pace.step()
	}
	if c.Hit[stage.KeyComma] || !w.pace.paused && c.Gamepad.Hit[stage.ButtonLeftStick] {
		w.pace.slower()
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
	w.news.pass(dt, c.News)
	w.player.see(c, &w.Frame.Panel)
	if script == nil {
		script = func() scenes.Input { return w.Watched(w.player.input(m3.YawOf(cam.Ahead()), w.Frame.Heading)) }
	}
	return w.Advance(dt, script)
}

// orbit moves the camera by a gamepad: the right stick turns it, the triggers bring it
// nearer and farther.
func orbit(cam *stage.Camera, g *stage.Gamepad, dt float32) {
	const (
		turning, tilting = 2.6, 1.6 // rad/s
		zooming          = 1.1      // in a second e times so, about
	)
	// Where the character comes to the camera, that does not flee around it.
	cam.Swing = m3.Clamp(1+g.Left.Y, 0, 1)
	if g.Right != (stage.Stick{}) {
		cam.Orbit(-turning*dt*g.Right.X, -tilting*dt*g.Right.Y)
		cam.Follow = false
	}
	if pull := g.LT - g.RT; pull != 0 {
		cam.Zoom(m3.Exp(zooming * pull * dt))
	}
}

// CameraHelp is what the keys do that scenes know nothing of, where the overlays has can be
// drawn.
func CameraHelp(has hud.Overlay) []string {
	help := []string{
		"drag: look around   wheel: nearer, farther   F: follow again",
		"P: pause   full stop: one step   comma: slow motion",
	}
	if has != 0 {
		help = append(help, has.Keys()+": what else is drawn   Tab: hide or show their panel")
	}
	return help
}

const leaveHelp = "H: hide this   Esc: leave"

// gamepadHelp is the same for gamepads.
var gamepadHelp = []string{
	"right stick: look around   LT RT: farther, nearer   right stick pressed: follow again",
	"Start: pause   left stick pressed: slow motion; paused: one step",
	leaveHelp,
}

// Help returns what keys do, or what gamepads do once one is used; nothing where the user
// hides it.
func (w *Show) Help() []string {
	if w.bare {
		return nil
	}
	if w.player.byPad {
		return slices.Concat(w.Frame.GamepadHelp, gamepadHelp)
	}
	return append(slices.Concat(w.Frame.Help, CameraHelp(w.Frame.Has)), leaveHelp)
}
