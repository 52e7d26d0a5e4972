package mocap

import (
	"fmt"
	"math"
	"strings"

	"mannequin/animsys/skel"
)

// rows is what the text after a BVH's header holds, line by line.
type rows struct {
	whole []int // byte offsets of lines of as many numbers as a frame has
	lines int   // that are not empty
	lost  []lostRow
}

// lostRow is a line that is no frame.
type lostRow struct {
	at    int // offset of its first word
	words int
	line  int // its number among the lines that are not empty
	why   string
}

// scanRows reads the lines from p.pos on, as frames of width values.
func (p *parser) scanRows(width int) (r rows) {
	for end := p.pos; end < len(p.data); end++ {
		start := end
		for end < len(p.data) && p.data[end] != '\n' && p.data[end] != '\r' {
			end++
		}
		line := p.data[start:end]
		first, words, bad := -1, 0, ""
		for i := 0; i < len(line); {
			if line[i] <= ' ' {
				i++
				continue
			}
			if first < 0 {
				first = start + i
			}
			v, n := scanNumber(line[i:])
			k := i
			for k < len(line) && line[k] > ' ' {
				k++
			}
			if bad == "" && (n != k-i || !(math.Abs(v) <= maxValue)) {
				bad = fmt.Sprintf("its value %d is %s", words+1, quote(string(line[i:k])))
			}
			words, i = words+1, k
		}
		switch {
		case words == 0:
			continue
		case bad == "" && words == width:
			r.whole = append(r.whole, first)
		case bad == "":
			r.lost = append(r.lost, lostRow{first, words, r.lines, fmt.Sprintf("it has %d of %d values", words, width)})
		default:
			r.lost = append(r.lost, lostRow{first, words, r.lines, bad})
		}
		r.lines++
	}
	return r
}

// byLine reports whether a line is a frame: not in all files are they.
func (r *rows) byLine() bool { return 2*len(r.whole) > r.lines }

// broken reports whether some of many lines are no frames of width values, nor frames in several lines.
func (r *rows) broken(width int) bool {
	if len(r.whole) < 9*len(r.lost) {
		return false
	}
	words := 0
	for i, l := range r.lost {
		if words += l.words; i+1 < len(r.lost) && r.lost[i+1].line == l.line+1 {
			continue
		}
		if words%width != 0 {
			return true
		}
		words = 0
	}
	return false
}

// damaged returns the error err of a file's frames, with what is whole in them.
func (p *parser) damaged(err error, start int, declared int64, width int) error {
	e, ok := err.(*SyntaxError)
	if !ok || width == 0 {
		return err
	}
	q := *p
	q.pos = start
	r := q.scanRows(width)
	if len(r.whole) == 0 || !r.byLine() {
		return err
	}
	if len(r.lost) > 0 {
		e = p.fail(r.lost[0].at, "this line is no frame: %s", r.lost[0].why).(*SyntaxError)
	}
	e.Msg += fmt.Sprintf("; the file says %d frames and has %s: --salvage keeps those", declared, count(len(r.whole), "whole one"))
	return e
}

func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// salvage reads the whole frames from start on into b, and notes what is lost. declared is the number of
// frames that the file says, or −1. It returns an error if there are none.
func (p *parser) salvage(b *Recording, start int, declared int64) error {
	width := b.NumChannels()
	p.pos = start
	r := p.scanRows(width)
	if !r.byLine() {
		r = rows{}
		p.salvageValues(&r, width, declared)
	}
	if width == 0 || len(r.whole) == 0 {
		return p.fail(start, "no whole frame of %d values", width)
	}
	if err := p.checkMemory(start, int64(len(r.whole)), p.skel.Len(), 0); err != nil {
		return err
	}
	b.Clip = skel.NewClip(&p.skel, tidyRate(b.FrameTime), len(r.whole))
	for f, at := range r.whole {
		p.pos = at
		p.frame(b.Clip.Frame(f)) // whole: it cannot fail
	}
	kept := count(len(r.whole), "whole frame")
	if declared >= 0 && declared != int64(len(r.whole)) {
		kept += fmt.Sprintf(" of the %d that the file says", declared)
	}
	at := start
	var lost []string
	for i, l := range r.lost {
		if i == 0 {
			at = l.at
		}
		if i == 3 {
			lost = append(lost, fmt.Sprintf("and %d more", len(r.lost)-i))
			break
		}
		line := p.fail(l.at, "").(*SyntaxError).Line
		lost = append(lost, fmt.Sprintf("line %d, since %s", line, l.why))
	}
	note := "kept " + kept
	if len(lost) > 0 {
		note += "; lost " + strings.Join(lost, ", ")
	}
	b.Notes = append(b.Notes, p.fail(at, "%s", note).Error())
	return nil
}

// salvageValues finds whole frames in a text whose lines are no frames, up to the first value that is no
// number or up to the declared number.
func (p *parser) salvageValues(r *rows, width int, declared int64) {
	for width > 0 {
		p.space()
		start := p.pos
		for k := range width {
			p.space()
			at := p.pos
			v, n := scanNumber(p.data[p.pos:])
			end := at + n
			switch {
			case at == len(p.data) && k == 0:
				return
			case at == len(p.data):
				r.lost = append(r.lost, lostRow{at: start, why: fmt.Sprintf("the last frame has %d of %d values", k, width)})
				return
			case n == 0 || end < len(p.data) && p.data[end] > ' ' || !(math.Abs(v) <= maxValue):
				t, _ := p.token()
				r.lost = append(r.lost, lostRow{at: at, why: fmt.Sprintf("a value of frame %d is %s, and what follows it", len(r.whole)+1, quote(t))})
				return
			}
			p.pos = end
		}
		r.whole = append(r.whole, start)
	}
}

// lostNote says how many frames were kept and why others were not.
func lostNote(kept int, lost []error) string {
	text := make([]string, 0, 4)
	for i, err := range lost {
		if i == 3 {
			text = append(text, fmt.Sprintf("and %d more", len(lost)-i))
			break
		}
		text = append(text, err.Error())
	}
	return "kept " + count(kept, "whole frame") + "; lost " + count(len(lost), "frame") + ": " + strings.Join(text, "; ")
}
