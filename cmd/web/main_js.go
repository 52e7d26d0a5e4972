package main

import (
	"bytes"
	"fmt"
	"slices"
	"syscall/js"
	"time"

	"mannequin/animsys/mar"
	"mannequin/engine/m3"
	"mannequin/engine/show"
	"mannequin/engine/stage"
	"mannequin/netruntime"
	"mannequin/offline/mocap"
	"mannequin/scenes"
	"mannequin/scenes/playbill"
)

func main() {
	if err := run(); err != nil {
		page.Call("fail", err.Error())
	}
}

// run plays what the address asks for, until something fails. The page loads itself
// anew for another scene.
func run() error {
	setup, err := parse(js.Global().Get("location").Get("hash").String())
	offer(&setup)
	if err != nil {
		return err
	}
	st, err := stage.Open(stage.Options{Width: 1280, Height: 720})
	if err != nil {
		return err
	}
	defer st.Close()
	scene, _, err := playbill.Open(setup, playbill.Means{Net: openNet, Styles: openStyles})
	if err != nil {
		return err
	}
	defer scene.Close()
	p := &player{setup: setup, driver: st.Driver()}
	if p.show, err = show.New(st, scene, scenes.TickRate); err != nil {
		return err
	}
	p.place(st.Camera)
	if from, ok := scene.(scenes.Exporter); ok {
		p.show.Stepped = func() { p.export(from) }
	}
	state := js.FuncOf(func(js.Value, []js.Value) any { return p.state() })
	page.Call("begin", lines(slices.Concat(p.show.Frame.Help, cameraHelp)), state)
	return p.loop()
}

// openNet fetches a network's weights, which lie beside the page.
func openNet(name string) (*netruntime.Net, error) {
	file, err := modelFile(name)
	if err != nil {
		return nil, err
	}
	return fetched(file, netruntime.Decode)
}

func openStyles() (*mar.Database, error) {
	return fetched("models/styles-free.safetensors", mar.Decode)
}

// fetched fetches a file and decodes it.
func fetched[T any](file string, decode func([]byte) (T, error)) (T, error) {
	b, err := fetch(file)
	if err != nil {
		var none T
		return none, err
	}
	v, err := decode(b)
	if err != nil {
		return v, fmt.Errorf("%s: %w", file, err)
	}
	return v, nil
}

// cameraHelp is what the page adds to a scene's own help.
var cameraHelp = []string{"drag: look around   wheel: nearer, farther   F: follow again", "H: hide this"}

// longest is the most time that a picture makes up for: where ticks take longer than
// they last, the scene slows down and goes on smoothly.
const longest = 50 * time.Millisecond

// player plays a scene, with what came from the user since the last tick.
type player struct {
	setup  playbill.Setup
	driver string // what draws
	show   *show.Show
	keys   stage.Controls
	hits   [stage.Keys]bool
	mouse  scenes.Touch

	pictures, ticks int
	tick, picture   float64 // how long one takes, smoothed, ms
}

// place puts the camera where the scene is seen well.
func (p *player) place(c *stage.Camera) {
	switch p.setup.Scene {
	case "crowd":
		c.Follow, c.Pitch, c.Yaw = false, 0.30, 0.5
		c.Distance = 4 + 1.1*m3.Sqrt(float32(p.setup.Agents))
	case "people", "latent", "strnn":
		c.Distance, c.Pitch = 5, 0.2
	}
	if p.setup.Scene == "latent" {
		c.Aside = 0.9 // steps are seen from the side
	}
}

// loop plays: a picture for each of the browser's.
func (p *player) loop() error {
	next := make(chan float64, 1)
	call := js.FuncOf(func(_ js.Value, args []js.Value) any {
		next <- args[0].Float()
		return nil
	})
	defer call.Release()
	last := -1.0 // ms
	for {
		js.Global().Call("requestAnimationFrame", call)
		now := <-next
		if last < 0 {
			last = now
		}
		dt := min(time.Duration((now-last)*float64(time.Millisecond)), longest)
		last = now
		p.poll()
		if err := p.draw(dt); err != nil {
			return err
		}
	}
}

func (p *player) draw(dt time.Duration) error {
	before, ticks := time.Now(), p.ticks
	if err := p.show.Advance(dt, p.input); err != nil {
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

func smooth(mean *float64, v float64) {
	if *mean == 0 {
		*mean = v
	}
	*mean += 0.05 * (v - *mean)
}

// poll takes what the user did. Presses that fall between two ticks count for the
// next one.
func (p *player) poll() {
	p.keys = p.show.Stage.Poll()
	for k, hit := range p.keys.Hit {
		p.hits[k] = p.hits[k] || hit
	}
	if t := p.keys.Touch; t.Set {
		p.mouse.Set, p.mouse.Slider, p.mouse.Value = true, t.Slider, t.Value
	}
	if t := p.keys.Touch; t.Press != 0 {
		p.mouse.Press = t.Press
	}
	if p.keys.Hit[stage.Letter('H')] {
		page.Call("toggleHelp")
	}
	if p.keys.Hit[stage.Letter('F')] {
		p.show.Stage.Camera.Follow = p.setup.Scene != "crowd"
	}
}

// input is what the player does in the next tick.
func (p *player) input() scenes.Input {
	p.ticks++
	in := show.Input(p.keys, p.hits)
	in.Touch = show.Touch(&p.show.Frame.Panel, p.mouse, p.keys, p.hits)
	p.hits, p.mouse = [stage.Keys]bool{}, scenes.Touch{}
	return in
}

// export has the browser save the motion that the player asks for, if it is asked for.
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
		page.Call("tell", err.Error())
		return
	}
	page.Call("save", p.setup.Scene+".bvh", bytesOutside(b.Bytes()))
}

// state is what the page shows of how it goes, and what tests watch.
func (p *player) state() any {
	at := func(v m3.Vec3) []any { return []any{v.X, v.Y, v.Z} }
	return map[string]any{
		"pictures": p.pictures, "ticks": p.ticks, "tickMs": p.tick, "pictureMs": p.picture,
		"focus": at(p.show.Frame.Focus), "eye": at(p.show.Stage.Camera.Eye()), "driver": p.driver,
	}
}
