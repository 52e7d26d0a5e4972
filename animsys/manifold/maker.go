package manifold

import (
	"errors"

	"mannequin/animsys/feature"
	"mannequin/engine/m3"
)

// pull is the weight of the existing motion in the edit of a window that continues it, 1/m².
const pull = 0.3

// styledSteps is the number of edit steps of a window with a style. Standing feet need at least
// eight (go test -run PeopleGoInStyles -v ./animsys).
const styledSteps = 10

// maker makes a stream's windows. It belongs to the goroutine that makes windows.
type maker struct {
	s        *Stream
	walker   *Walker
	editor   *Editor
	walk     Walk // of a whole batch
	edit     Edit
	walkJob  Walk // of the current run
	editJob  Edit
	weight   []float32
	moved    []float32 // (batch, window, feature.MotionLen) motion of bodies that sway about their curves
	fidgets  fidgets
	restyler *restyler // once someone has a style
	order    *order    // of the present run
	before   func(worker, k int)
	restyle  func(worker, k int)
	hold     func(worker, k int)
	swing    func(worker, k int)
	ground   func(worker, k int)
	after    func(worker, k int)
}

func (n *Networks) newMaker(s *Stream) (*maker, error) {
	m := n.Model
	o := &s.opt
	w, err := n.NewWalker(WalkerOptions{Batch: o.Batch, Length: s.window, Workers: o.Workers, Open: o.Open, BF16: o.BF16})
	if err != nil {
		return nil, err
	}
	e, err := m.NewEditor(EditorOptions{Batch: o.Batch, Length: s.window, Workers: o.Workers, Open: o.Open})
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	k := &maker{s: s, walker: w, editor: e, fidgets: newFidgets(m)}
	frames, cols, contacts := o.Batch*s.window, m.Layout.Columns(), len(m.Layout.Contacts)
	k.walk = Walk{Length: s.window, Body: make([]float32, frames*feature.MotionLen), Gaits: make([]Gait, o.Batch), Phase: make([]float32, o.Batch), First: make([]int, o.Batch), Stride: make([]float32, o.Batch), sway: make([]sway, frames),
		Rows: make([]float32, frames*cols), Contacts: make([]float32, frames*contacts), Phases: make([]float32, frames)}
	k.edit = Edit{Length: s.window, Want: make([]float32, frames*cols), Iterations: o.Iterations}
	k.weight, k.moved = make([]float32, frames*cols), make([]float32, len(k.walk.Body))
	for b := range o.Batch { // positions of joints before the seam
		for f := range context {
			row := k.weight[(b*s.window+f)*cols:]
			for i := range 3 * len(m.Layout.Joints) {
				row[i] = pull
			}
		}
	}
	k.before = func(_, i int) { k.plan(k.order, i) }
	k.restyle = func(worker, i int) {
		r, style := k.restyler, k.order.window[k.restyler.windows[i]].style
		n := s.window / 2 * m.Units
		style.Transfer.apply(r.hidden[i*n:(i+1)*n], r.sum[worker], style.Weight)
	}
	k.hold = func(worker, i int) {
		r, from := k.restyler, k.restyler.windows[i]
		n := s.window * cols
		content, rows := k.walk.Rows[from*n:][:n], r.styled[i*n:][:n]
		copy(rows, content)
		r.addChange(rows, i, 0, s.window)
		r.hold[worker].run(rows, content, k.walk.Contacts[from*s.window*contacts:])
	}
	k.swing = func(_, i int) { k.join(k.order, i) }
	k.ground = func(worker, i int) {
		rows, stand := s.window*cols, s.window*contacts
		body := k.walk.Body[i*s.window*feature.MotionLen:][:s.window*feature.MotionLen]
		w.sidestep(k.walk.Rows[i*rows:][:rows], body, worker)
		w.level(k.walk.Rows[i*rows:][:rows], k.walk.Contacts[i*stand:][:stand])
		rest := w.line[worker][0][:s.window]
		for f := range rest {
			rest[f] = stays(body[f*feature.MotionLen:])
		}
		k.fidgets.run(m.Layout, k.walk.Rows[i*rows:][:rows], rest, k.walk.Gaits[i].Person, k.walk.First[i])
	}
	k.after = func(_, i int) { k.finish(k.order, i) }
	return k, nil
}

func (k *maker) close() error {
	err := errors.Join(k.walker.Close(), k.editor.Close())
	if k.restyler != nil {
		err = errors.Join(err, k.restyler.close())
	}
	return err
}

// run makes an order.
func (k *maker) run(o *order) error {
	if o.n == 0 {
		return nil
	}
	k.order = o
	defer func() { k.order = nil }()
	pool := k.walker.pool
	pool.Run(o.n, k.before)
	k.walk.Kept = context + blend
	if err := k.make(o.n); err != nil {
		return err
	}
	pool.Run(o.n, k.after)
	return nil
}

// make makes n windows along k.walk.Body.
func (k *maker) make(n int) error {
	m := k.s.model
	frames, cols, contacts := n*k.s.window, m.Layout.Columns(), len(m.Layout.Contacts)
	w := &k.walkJob
	*w = k.walk
	w.Batch, w.Body, w.Gaits, w.Phase = n, w.Body[:frames*feature.MotionLen], w.Gaits[:n], w.Phase[:n]
	w.First, w.Stride, w.sway = w.First[:n], w.Stride[:n], w.sway[:frames]
	w.Rows, w.Contacts, w.Phases = w.Rows[:frames*cols], w.Contacts[:frames*contacts], w.Phases[:frames]
	if err := k.walker.Run(w); err != nil {
		return err
	}
	k.walker.pool.Run(n, k.swing)
	k.editor.centre(w.Rows, n, k.s.window)
	if err := k.style(); err != nil {
		return err
	}
	k.walker.pool.Run(n, k.ground)
	if k.edit.Iterations == 0 {
		return nil
	}
	e := &k.editJob
	*e = k.edit
	e.Batch, e.Rows, e.Body, e.Stand = n, w.Rows, k.moved[:len(w.Body)], w.Contacts
	if e.Want = nil; w.Kept > 0 { // it continues existing motion
		e.Want, e.Weight = k.edit.Want[:frames*cols], k.weight[:frames*cols]
	}
	_, err := k.editor.Run(e)
	return err
}

// style applies the styles of windows that have one.
func (k *maker) style() error {
	if k.order == nil {
		return nil
	}
	m, o := k.s.model, k.order
	cols, joints, n := m.Layout.Columns(), 3*len(m.Layout.Joints), 0
	for _, w := range o.window[:o.n] {
		if w.style.Transfer != nil {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	if k.restyler == nil {
		opt := &k.s.opt
		var err error
		if k.restyler, err = m.newRestyler(opt.Batch, k.s.window, opt.Workers, opt.Open); err != nil {
			return err
		}
	}
	r, window := k.restyler, k.s.window*cols
	if r.body == nil {
		r.styled = make([]float32, len(k.walk.Rows))
		r.body, r.stand = make([]float32, len(k.walk.Body)), make([]float32, len(k.walk.Contacts))
	}
	r.windows = r.windows[:0]
	for i, w := range o.window[:o.n] {
		if w.style.Transfer != nil {
			copy(r.frames[len(r.windows)*window:], k.walk.Rows[i*window:(i+1)*window])
			r.windows = append(r.windows, i)
		}
	}
	if err := r.encodeFrames(n, k.s.window); err != nil {
		return err
	}
	k.walker.pool.Run(n, k.restyle)
	if err := r.decodeHidden(n, k.s.window); err != nil {
		return err
	}
	k.walker.pool.Run(n, k.hold)
	if err := k.holdFeet(n); err != nil {
		return err
	}
	for i, to := range r.windows { // poses only: bodies and contacts stay
		for f := range k.s.window {
			copy(k.walk.Rows[to*window+f*cols:][:joints], r.styled[i*window+f*cols:][:joints])
		}
	}
	return nil
}

// hold keeps the feet of the n styled windows in place. A style changes the reach of the legs, and
// the crowd's foot lock alone does not make up for that.
func (k *maker) holdFeet(n int) error {
	r, window, contacts := k.restyler, k.s.window, len(k.s.model.Layout.Contacts)
	for i, from := range r.windows {
		copy(r.body[i*window*feature.MotionLen:], k.moved[from*window*feature.MotionLen:][:window*feature.MotionLen])
		copy(r.stand[i*window*contacts:], k.walk.Contacts[from*window*contacts:][:window*contacts])
	}
	k.editor.centre(r.styled, n, window)
	k.editJob = Edit{Batch: n, Length: window, Rows: r.styled[:n*window*k.s.model.Layout.Columns()],
		Body: r.body[:n*window*feature.MotionLen], Stand: r.stand[:n*window*contacts], Iterations: styledSteps}
	_, err := k.editor.Run(&k.editJob)
	return err
}

// plan writes what the networks are given of window i of an order.
func (k *maker) plan(o *order, i int) {
	s, w := k.s, &o.window[i]
	seat, seam := w.seat, w.seam
	ring := s.way[int(seat)*s.ring:][:s.ring]
	place := o.place[i*s.placed():][:s.placed()]
	for j := range place {
		place[j] = smoothed(ring, seam+j)
	}
	at := func(f int) feature.Place {
		if f < seam {
			return s.place[s.slot(seat, f)].place()
		}
		return place[f-seam].place()
	}
	n, cols, contacts := len(s.model.Layout.Joints), s.model.Layout.Columns(), len(s.model.Layout.Contacts)
	for j := range s.window {
		f, row := seam-context+j, i*s.window+j
		motion(k.walk.Body[row*feature.MotionLen:], at(f), at(f+1))
		if j < context+blend {
			was := s.slot(seat, f)
			for c := range contacts {
				k.walk.Contacts[row*contacts+c] = float32(s.stand[was] >> c & 1)
			}
			if j < context && k.edit.Iterations > 0 {
				var points [maxJoints]m3.Vec3
				s.packed.Unpack(points[:n], s.joints[was*n:])
				for i, p := range points[:n] {
					copy(k.edit.Want[row*cols+3*i:], []float32{p.X, p.Y, p.Z})
				}
			}
			k.walk.Phase[i] = s.phase[was]
		}
	}
	k.walk.Gaits[i], k.walk.First[i], k.walk.Stride[i] = w.curve.Gait, seam-context, w.stride
}

// join joins the sway of window i to that before its seam. A nil order is the window of a standing
// person, which continues nothing.
func (k *maker) join(o *order, i int) {
	s, of := k.s, k.walk.sway[i*k.s.window:][:k.s.window]
	for j := 0; o != nil && j < context+blend; j++ {
		w := &o.window[i]
		of[j] = mixSway(s.sway[s.slot(w.seat, w.seam-context+j)].unpack(), of[j], fade(max(j-context, -1)))
	}
	at := i * s.window * feature.MotionLen
	addSway(k.moved[at:], k.walk.Body[at:], of)
}

// finish writes window i from the seam on into its order.
func (k *maker) finish(o *order, i int) {
	s := k.s
	n, cols, contacts := len(s.model.Layout.Joints), s.model.Layout.Columns(), len(s.model.Layout.Contacts)
	frames := s.hop + blend
	o.failed[i] = false
	o.stride[i] = k.walk.Stride[i]
	for j := range frames {
		row, to := i*s.window+context+j, i*frames+j
		w := k.walk.sway[row]
		o.stand[to], o.sway[to] = 0, w.pack()
		for c := range contacts {
			if k.walk.Contacts[row*contacts+c] > 0 {
				o.stand[to] |= 1 << c
			}
		}
		if j < blend {
			o.phase[to] = k.walk.Phase[i]
		} else {
			o.phase[to] = k.walk.Phases[row]
		}
		if !m3.Finite(o.phase[to]) || !m3.Finite(w.x) || !m3.Finite(w.z) || !m3.Finite(w.yaw) {
			o.failed[i] = true
		}
		joints := k.walk.Rows[row*cols:][:3*n]
		s.packed.Pack(o.joints[to*n:][:n], joints)
		o.failed[i] = o.failed[i] || !feature.Finite(joints)
	}
}

// idle returns the joints of a standing person.
func (k *maker) idle() ([]feature.Point16, error) {
	was := k.edit.Iterations
	k.edit.Iterations = DefaultIterations
	defer func() { k.edit.Iterations = was }()
	clear(k.walk.Body)
	k.walk.Kept, k.walk.Stride[0] = 0, 1
	if err := k.make(1); err != nil {
		return nil, err
	}
	m := k.s.model
	at := k.s.window / 2 * m.Layout.Columns()
	joints := k.walk.Rows[at:][:3*len(m.Layout.Joints)]
	if !feature.Finite(joints) {
		return nil, errors.New("manifold: the networks' standing pose has values that are not finite")
	}
	packed := make([]feature.Point16, len(m.Layout.Joints))
	k.s.packed.Pack(packed, joints)
	return packed, nil
}
