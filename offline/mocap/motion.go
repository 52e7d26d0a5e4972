package mocap

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

// motion parses everything after MOTION and returns the finished BVH.
func (p *parser) motion(opt OpenOptions) (*Recording, error) {
	b := &Recording{Channels: p.channels}
	width := int64(b.NumChannels())
	frames, framesAt, err := p.frameCount()
	if err != nil && !opt.Salvage {
		return nil, err
	}
	next, _ := p.token()
	_, digits := scanNumber([]byte(next)) // a frame in place of the line
	if b.FrameTime, err = p.frameTime(); err != nil {
		if e, ok := err.(*SyntaxError); opt.FrameRate == 0 || !ok {
			if ok {
				e.Msg += "; --frame-rate sets the rate"
			}
			return nil, err
		}
		for b.FrameTime = 1 / opt.FrameRate; digits == 0 && p.pos < len(p.data) && p.data[p.pos] != '\n' && p.data[p.pos] != '\r'; p.pos++ {
		}
	}
	start := p.pos
	if frames >= 0 {
		if err = p.clip(b, frames, framesAt); err == nil {
			b.Notes = append(p.notes, b.Notes...)
			return b, nil
		}
		if !opt.Salvage {
			return nil, p.damaged(err, start, frames, int(width))
		}
	}
	b.Notes = p.notes
	return b, p.salvage(b, start, frames)
}

// frameCount parses the line "Frames:". With an error the next word is that of the Frame Time if there is one.
func (p *parser) frameCount() (frames int64, at int, err error) {
	if err := p.expect("Frames", " after MOTION"); err != nil {
		return -1, p.pos, err
	}
	p.accept(":")
	t, at := p.token()
	frames, err = strconv.ParseInt(t, 10, 64)
	if err == nil && frames >= 0 {
		p.pos += len(t)
		return frames, at, nil
	}
	if !strings.EqualFold(t, "Frame") {
		p.pos += len(t)
	}
	return -1, at, p.fail(at, "expected the number of frames after \"Frames:\", found %s", quote(t))
}

// clip parses the frames of a file that says how many there are.
func (p *parser) clip(b *Recording, frames int64, framesAt int) error {
	width, start := int64(b.NumChannels()), p.pos
	if words := p.words(); frames == 0 && width > 0 && words >= width {
		frames = words / width // a stream's writer does not know how many frames will follow
		b.Notes = append(b.Notes, p.fail(framesAt, "\"Frames: 0\": took the %d that follow", frames).Error())
	}
	// A value takes a digit and a separator; the last one needs no separator.
	room := (int64(len(p.data)-p.pos) + 1) / 2
	if width > 0 && frames > room/width {
		return p.fail(framesAt, "\"Frames: %d\" of %d values each, but the %d bytes that follow hold at most %d frames",
			frames, width, len(p.data)-p.pos, room/width)
	}
	if err := p.checkMemory(framesAt, frames, p.skel.Len(), 0); err != nil {
		return err
	}
	b.Clip = skel.NewClip(&p.skel, tidyRate(b.FrameTime), int(frames))
	split, err := p.frames(b)
	if err != nil {
		return err
	}
	if p.space(); p.pos < len(p.data) {
		return p.surplus(frames, width)
	}
	if split {
		q := *p
		q.pos = start
		if r := q.scanRows(int(width)); r.broken(int(width)) {
			return p.fail(r.lost[0].at, "this line is no frame: %s", r.lost[0].why)
		}
	}
	return nil
}

// frameTime parses the line "Frame Time:" and returns the seconds.
func (p *parser) frameTime() (float64, error) {
	if err := p.expect("Frame", " before \"Time:\""); err != nil {
		return 0, err
	}
	if err := p.expect("Time", " after \"Frame\""); err != nil {
		return 0, err
	}
	p.accept(":")
	at := p.pos
	dt, err := p.number("the Frame Time")
	if err == nil && !(dt >= minFrameTime && dt <= maxFrameTime) {
		err = p.fail(at, "the Frame Time is %g: expected seconds between %g and %g", dt, minFrameTime, float64(maxFrameTime))
	}
	return dt, err
}

// checkMemory reports frames that would take too much memory for the text and its skeleton.
func (p *parser) checkMemory(at int, frames int64, joints, extra int) error {
	limit := memFree + memPerByte*int64(len(p.data)+extra)
	if frames <= limit/int64(joints*jointBytes) {
		return nil
	}
	return p.fail(at, "%d frames of %d joints, most of them without values, need more than the %d MB that a file of %d bytes may take",
		frames, joints, limit>>20, len(p.data))
}

// words counts the words that are left, without taking them.
func (p *parser) words() (n int64) {
	space := true
	for _, c := range p.data[p.pos:] {
		if c > ' ' && space {
			n++
		}
		space = c <= ' '
	}
	return n
}

// frames parses the frames, and reports whether some of them are not a line each.
func (p *parser) frames(b *Recording) (bool, error) {
	c := b.Clip
	split, first, firstAt := 0, 0, 0 // frames that are not one line
	for f := range c.Frames {
		p.space()
		start := p.pos
		if j, ch, ok := p.frame(c.Frame(f)); !ok {
			return false, p.badValue(c, f, j, ch)
		}
		if start < p.pos && !p.alone(start, p.pos) {
			if split++; split == 1 {
				first, firstAt = f, start
			}
		}
	}
	if split > 0 {
		b.Notes = append(b.Notes, p.fail(firstAt, "%d of %d frames are not a line each, the first is frame %d: if a line lacks a value, the ones after it are in wrong channels",
			split, c.Frames, first+1).Error())
	}
	return split > 0, nil
}

// frame parses a frame. It stops before a broken value and returns its joint and channel.
func (p *parser) frame(pos []m3.Vec3, rot []m3.Quat) (joint int, c Channel, ok bool) {
	for j, list := range p.channels {
		x, y, z, w := 0.0, 0.0, 0.0, 1.0
		for _, ch := range list {
			for p.pos < len(p.data) && p.data[p.pos] <= ' ' {
				p.pos++
			}
			v, n := scanNumber(p.data[p.pos:])
			end := p.pos + n
			if n == 0 || end < len(p.data) && p.data[end] > ' ' || !(math.Abs(v) <= maxValue) {
				return j, ch, false
			}
			switch ch {
			case Xposition:
				pos[j].X = toFloat32(v, p.data[p.pos:end])
			case Yposition:
				pos[j].Y = toFloat32(v, p.data[p.pos:end])
			case Zposition:
				pos[j].Z = toFloat32(v, p.data[p.pos:end])
			default:
				// q·(axis·sin, cos) for a unit axis: right-multiplied, so
				// that channels compose in file order.
				si, co := math.Sincos(v * (math.Pi / 360))
				switch ch {
				case Xrotation:
					x, y, z, w = x*co+w*si, y*co+z*si, z*co-y*si, w*co-x*si
				case Yrotation:
					x, y, z, w = x*co-z*si, y*co+w*si, z*co+x*si, w*co-y*si
				case Zrotation:
					x, y, z, w = x*co+y*si, y*co-x*si, z*co+w*si, w*co-z*si
				}
			}
			p.pos = end
		}
		rot[j] = m3.Quat{X: float32(x), Y: float32(y), Z: float32(z), W: float32(w)}
	}
	return 0, 0, true
}

func (p *parser) badValue(c *skel.Clip, f, j int, ch Channel) error {
	t, at := p.token()
	what := fmt.Sprintf("%s of %q in frame %d of %d", ch, c.Skel.Names[j], f+1, c.Frames)
	if t == "" {
		return p.fail(at, "the file ends before %s", what)
	}
	return p.fail(at, "%s", wrongValue(what, t))
}

// wrongValue says why the word t is no value.
func wrongValue(what, t string) string {
	if v, n := scanNumber([]byte(t)); n == len(t) && !(math.Abs(v) <= maxValue) {
		return fmt.Sprintf("%s is %s: beyond ±%g", what, short40(t), float64(maxValue))
	}
	return fmt.Sprintf("expected a number, %s, found %s", what, quote(t))
}

// surplus returns the error of text after the last frame.
func (p *parser) surplus(frames, width int64) error {
	at := p.pos
	var extra int64
	for {
		p.space()
		_, n := scanNumber(p.data[p.pos:])
		if n == 0 {
			break
		}
		extra++
		p.pos += n
	}
	if p.pos < len(p.data) {
		t, at := p.token()
		return p.fail(at, "expected the end of the file after %d frames, found %s", frames, quote(t))
	}
	return p.fail(at, "expected the end of the file after %d frames of %d values, found %d more values", frames, width, extra)
}
