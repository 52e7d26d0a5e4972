package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"syscall/js"
	"time"

	"mannequin/animsys/manifold"
	"mannequin/animsys/mar"
	"mannequin/animsys/matching"
	"mannequin/engine/clock"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/engine/stage"
	"mannequin/netruntime"
	"mannequin/netruntime/webgpu"
	"mannequin/offline/mocap"
	"mannequin/scenes"
	"mannequin/scenes/open"
	"mannequin/scenes/show"
)

func main() {
	if err := run(); err != nil {
		page.Call("fail", err.Error())
	}
}

// run plays the scene in the address until something fails. Another scene reloads the page.
func run() error {
	wanted, err := parse(js.Global().Get("location").Get("hash").String())
	offer(&wanted)
	if err != nil {
		return err
	}
	st, err := openStage()
	if err != nil {
		return err
	}
	defer func() { st.Close() }()
	resources := open.Resources{Net: openNet, Styles: openStyles, Transfers: openTransfers, Character: openCharacter, Log: slog.Default()}
	gpu, noGPU := "", error(nil)
	if wanted.backend == "webgpu" {
		resources.Open, resources.Nearest = openWebGPU, searchWebGPU
		gpu, noGPU = webgpu.Device()
	}
	scene, _, err := open.Scene(wanted.Setup, resources)
	if err != nil {
		return err
	}
	defer scene.Close()
	p := &player{setup: wanted.Setup, driver: st.Driver(), gpu: gpu}
	if p.show, err = show.New(st, scene, scenes.TickRate); err != nil {
		return err
	}
	if p.show.Budget, err = clock.NewBudget(budget); err != nil {
		return err
	}
	if p.show.Free { // show all characters, even on a phone in portrait orientation
		window := js.Global()
		st.Camera.Distance *= max(1, float32(window.Get("innerHeight").Float()/max(window.Get("innerWidth").Float(), 1)))
	}
	start := time.Now()
	p.show.Now = func() time.Duration { return time.Since(start) }
	from, exports := scene.(scenes.Exporter)
	p.show.Stepped = func() {
		p.ticks++
		if exports {
			p.export(from)
		}
	}
	state := js.FuncOf(func(js.Value, []js.Value) any { return p.state() })
	page.Call("begin", state)
	if noGPU != nil {
		page.Call("notify", fmt.Sprintf("The CPU computes the networks: %v", noGPU))
	}
	p.updateHelp()
	for {
		if err := p.loop(); !st.Gone() {
			return err
		}
		st.Close()
		page.Call("wait", "The browser has taken the graphics away, and may give them back. Until then the scene waits.")
		again, err := p.reopen()
		if err != nil {
			return err
		}
		st = again
		p.show.Move(st)
		page.Call("goOn")
	}
}

func openStage() (*stage.Stage, error) { return stage.Open(stage.Options{Width: 1280, Height: 720}) }

// reopen waits until the browser gives the graphics back, and opens a stage.
func (p *player) reopen() (*stage.Stage, error) {
	for {
		for !stage.HasDisplay() {
			p.next()
		}
		st, err := openStage()
		if err == nil || stage.HasDisplay() { // else they were lost again
			return st, err
		}
	}
}

// openNet fetches a network's weights, which lie beside the page.
func openNet(name string) (*netruntime.Net, error) {
	file, err := modelFile(name, "safetensors")
	if err != nil {
		return nil, err
	}
	return fetched(file, netruntime.Decode)
}

func openWebGPU(n *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
	return webgpu.NewSession(n, webgpu.Options{SessionOptions: o, Log: slog.Default()})
}

func searchWebGPU(p *netruntime.Points, batch int) (netruntime.Nearest, error) {
	return webgpu.NewNearest(p, webgpu.Options{SessionOptions: netruntime.SessionOptions{Batch: batch}, Log: slog.Default()})
}

// openCharacter fetches a shipped character.
func openCharacter(name string) (*matching.File, error) {
	file, err := modelFile(name, "character")
	if err != nil {
		return nil, err
	}
	return fetched(file, matching.DecodeFile)
}

func openStyles() (*mar.Database, error) {
	return fetched("models/styles-free.safetensors", mar.Decode)
}

func openTransfers() (*manifold.StyleSet, error) {
	return fetched("models/styles-gram.safetensors", manifold.DecodeStyleSet)
}

func fetched[T any](file string, decode func([]byte) (T, error)) (v T, err error) {
	b, err := fetch(file)
	if err != nil {
		return v, err
	}
	if v, err = decode(b); err != nil {
		return v, fmt.Errorf("%s: %w", file, err)
	}
	return v, nil
}

// gamepadHelp is the page's own help for gamepads.
var gamepadHelp = []string{
	"right stick: look around   LT RT: farther, nearer   pressed: follow again",
	"Start: pause   left stick pressed: slow motion; when paused: single step",
}

// budget is a tick's time beyond which distant agents update less often: the one thread draws, too.
const budget = time.Second / scenes.TickRate / 2

// longest is the most scene time per picture. Slow ticks slow the scene down but it stays smooth.
const longest = 50 * time.Millisecond

// player runs a scene.
type player struct {
	setup  open.Setup
	driver string // name of the graphics driver
	gpu    string // that computes the networks, or empty
	show   *show.Show
	pads   int // connected gamepads

	pictures, ticks int
	tick, picture   float64 // duration, smoothed, ms
	gap             float64 // longest time between two pictures since the last call of state, ms
}

// next waits for the browser's next animation frame and returns its time in ms.
func (p *player) next() float64 {
	wanted := make(chan float64, 1)
	call := js.FuncOf(func(_ js.Value, args []js.Value) any {
		wanted <- args[0].Float()
		return nil
	})
	defer call.Release()
	js.Global().Call("requestAnimationFrame", call)
	return <-wanted
}

// loop draws a picture for each animation frame.
func (p *player) loop() error {
	for last := p.next(); ; {
		now := p.next()
		p.gap = max(p.gap, now-last)
		dt := min(time.Duration((now-last)*float64(time.Millisecond)), longest)
		last = now
		if err := p.draw(dt); err != nil {
			return err
		}
	}
}

func (p *player) draw(dt time.Duration) error {
	before, ticks := time.Now(), p.ticks
	c := p.show.Stage.Poll()
	if c.Hit[stage.Letter('H')] {
		page.Call("toggleHelp")
	}
	if c.Gamepad.Connected != p.pads {
		p.pads = c.Gamepad.Connected
		p.updateHelp()
	}
	if err := p.show.Play(c, dt, nil); err != nil {
		return err
	}
	stepped := time.Now()
	if err := p.show.Draw(dt, nil); err != nil {
		return err
	}
	p.show.Stage.Present()
	p.pictures++
	if n := p.ticks - ticks; n > 0 {
		smooth(&p.tick, stepped.Sub(before).Seconds()*1000/float64(n))
	}
	smooth(&p.picture, time.Since(stepped).Seconds()*1000)
	return nil
}

// updateHelp sets the page's help for keys, and for gamepads if there are any.
func (p *player) updateHelp() {
	f := &p.show.Frame
	all := append(slices.Concat(f.Help, show.CameraHelp(f.Has|hud.Times)), "H: hide this")
	if p.pads > 0 {
		all = slices.Concat(all, []string{""}, f.GamepadHelp, gamepadHelp)
	}
	page.Call("help", lines(all))
}

func smooth(mean *float64, v float64) {
	if *mean == 0 {
		*mean = v
	}
	*mean += 0.05 * (v - *mean)
}

// export lets the browser save the motion if the player asked for it.
func (p *player) export(from scenes.Exporter) {
	clip, err := from.Export()
	if clip == nil && err == nil {
		return
	}
	var b bytes.Buffer
	if err == nil {
		err = mocap.WriteClip(&b, clip)
	}
	if err != nil {
		page.Call("notify", err.Error())
		return
	}
	page.Call("save", p.setup.Scene+".bvh", bytesOutside(b.Bytes()))
}

// state returns what the page shows of the performance, and what tests check.
func (p *player) state() any {
	at := func(v m3.Vec3) []any { return []any{v.X, v.Y, v.Z} }
	gap := p.gap
	p.gap = 0
	if webgpu.Fallbacks() > 0 {
		p.gpu = ""
	}
	return map[string]any{
		"pictures": p.pictures, "ticks": p.ticks, "tickMs": p.tick, "pictureMs": p.picture, "gapMs": gap,
		"focus": at(p.show.Frame.Focus), "eye": at(p.show.Stage.Camera.Eye()), "driver": p.driver, "kernels": netruntime.Kernels(),
		"gpu": p.gpu,
	}
}
