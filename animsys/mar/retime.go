package mar

import "mannequin/engine/m3"

// Retimer turns the rows of one character, each some frames after the one before, into motion at a
// fixed rate. Time in the output runs as the style wants it, faster or slower than in the input. A
// frame is complete with the first row at or after it, so no frame waits for more than one frame of
// input.
type Retimer struct {
	layout *layout
	fps    float32
	at     place // of the last row
	time   float64
	frames float64 // made so far
	last   transforms
	now    transforms
	out    transforms
}

type transforms struct {
	pos []m3.Vec3
	rot []m3.Quat
}

// NewRetimer returns a retimer that places the first row at pos with heading yaw.
func (db *Database) NewRetimer(pos m3.Vec3, yaw float32) *Retimer {
	if db.layout == nil {
		return &Retimer{}
	}
	r := &Retimer{layout: db.layout, fps: db.FPS, at: place{pos.X, pos.Z, yaw}}
	for _, t := range []*transforms{&r.last, &r.now, &r.out} {
		*t = transforms{make([]m3.Vec3, db.layout.skel.Len()), make([]m3.Quat, db.layout.skel.Len())}
	}
	return r
}

// Push takes a row, step > 0 frames after the one before, and calls frame for every frame of output
// that it completes. The local transforms belong to the retimer. The first row is the first frame,
// whatever its step.
func (r *Retimer) Push(row []float32, step float32, frame func(pos []m3.Vec3, rot []m3.Quat)) {
	if r.layout == nil {
		return
	}
	r.last, r.now = r.now, r.last
	if r.frames == 0 {
		r.layout.decode(r.now.pos, r.now.rot, row, r.at, 0)
		r.frames = 1
		frame(r.now.pos, r.now.rot)
		return
	}
	from := r.time
	r.time += float64(step)
	r.at = r.layout.decode(r.now.pos, r.now.rot, row, r.at, step/r.fps)
	for ; r.frames <= r.time; r.frames++ {
		a := float32((r.frames - from) / (r.time - from))
		for j := range r.out.pos {
			r.out.pos[j] = r.last.pos[j].Lerp(r.now.pos[j], a)
			r.out.rot[j] = r.last.rot[j].Slerp(r.now.rot[j], a)
		}
		frame(r.out.pos, r.out.rot)
	}
}
