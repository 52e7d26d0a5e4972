package fbx

// read6 reads objects, connections and takes of version 6, where objects are known by their names.
func (s *scene) read6() error {
	objects := s.root.child("Objects")
	if objects == nil {
		return s.errorf(-1, "has no objects")
	}
	for i := range objects.below {
		r := &objects.below[i]
		values, err := s.all(r, 2)
		if err != nil {
			return err
		}
		name, class := text(values, 0), text(values, 1)
		if name == "" || s.ids[name] != 0 {
			continue
		}
		id := int64(len(s.ids) + 1)
		s.ids[name] = id
		if r.name == "Model" {
			if s.byID[id], err = s.addModel(id, name, class, r); err != nil {
				return err
			}
		} else {
			s.objects[id], s.kinds[id] = r, r.name+"/"+class
		}
	}
	err := s.named(s.root.child("Connections"), "Connect", 4, func(_ *record, values []value) error {
		if child := s.ids[text(values, 1)]; child != 0 {
			s.connect(child, s.ids[text(values, 2)], text(values, 3))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.named(s.root.child("Takes"), "Take", 1, s.take6)
}

// take6 reads an animation.
func (s *scene) take6(r *record, values []value) error {
	k := &stack{name: cleanName(text(values, 0))}
	if t := r.child("LocalTime"); t != nil {
		span, err := s.wholes(t, 2)
		if err != nil {
			return err
		}
		if len(span) == 2 {
			k.start, k.stop = span[0], span[1]
		}
	}
	y := &layer{weight: 1, tracks: map[*model]*[3]*track{}}
	err := s.named(r, "Model", 1, func(of *record, values []value) error {
		m := s.byID[s.ids[text(values, 0)]]
		transform, err := s.channel6(of, "Transform")
		if m == nil || transform == nil || err != nil {
			return err
		}
		tracks := &[3]*track{}
		for which, name := range [3]string{"T", "R", "S"} {
			c, err := s.channel6(transform, name)
			if err != nil {
				return err
			}
			if c == nil {
				continue
			}
			t := &track{base: [][3]float64{m.t, m.r, m.s}[which]}
			for a, name := range [3]string{"X", "Y", "Z"} {
				one, err := s.channel6(c, name)
				if err != nil {
					return err
				}
				if one == nil {
					continue
				}
				if d := one.child("Default"); d != nil {
					x, err := s.numbers(d, 1)
					if err != nil {
						return err
					}
					if len(x) == 1 {
						t.base[a] = x[0]
					}
				}
				if t.curves[a], err = s.curve6(one); err != nil {
					return err
				}
			}
			tracks[which] = t
		}
		y.tracks[m], m.moves = tracks, true
		return nil
	})
	if err != nil {
		return err
	}
	k.layers = []*layer{y}
	s.stacks = append(s.stacks, k)
	return nil
}

// channel6 returns the channel below r with that name, or nil.
func (s *scene) channel6(r *record, name string) (*record, error) {
	for i := range r.below {
		c := &r.below[i]
		if c.name != "Channel" {
			continue
		}
		values, err := s.all(c, 1)
		if err != nil {
			return nil, err
		}
		if text(values, 0) == name {
			return c, nil
		}
	}
	return nil, nil
}

// curve6 reads the keys of a channel, or returns nil if it has none. A key is a time, a value, a letter
// for the way to the next key, and what that letter needs.
func (s *scene) curve6(r *record) (*curve, error) {
	keys := r.child("Key")
	if keys == nil {
		return nil, nil
	}
	c := &curve{}
	var all []key
	var key []value // of the key that is being read
	var err error
	finish := func() {
		n := len(key)
		if n < 3 {
			err = s.errorf(keys.at, "a key has %d values", n)
			return
		}
		if len(c.times) == MaxKeys {
			err = s.errorf(keys.at, "more than %d keys", MaxKeys)
			return
		}
		c.times, c.values, all = append(c.times, key[0].whole), append(c.values, key[1].num), append(all, key6(key[2:]))
		key = key[:0]
	}
	need := func() (more int, letter bool) { // what the key still lacks
		switch {
		case len(key) < 2:
			return 1, false
		case len(key) == 2:
			return 1, true
		}
		rest := key[3:]
		switch key[2].text {
		case "C":
			if len(rest) < 1 {
				return 1, true
			}
			return 0, false
		case "U", "A":
			if len(rest) < 1 {
				return 1, true
			}
			numbers, weights := 2, 1
			switch rest[0].text {
			case "a":
				numbers = 0
			case "t":
				numbers = 3
			case "p":
				weights = 2
			}
			rest = rest[1:]
			if len(rest) < numbers {
				return 1, false
			}
			for rest = rest[numbers:]; weights > 0; weights-- {
				if len(rest) == 0 {
					return 1, true
				}
				follow := map[string]int{"n": 0, "a": 2, "l": 1, "r": 1, "c": 0}[rest[0].text]
				if rest[0].text == "c" {
					weights += 2
				}
				if rest = rest[1:]; len(rest) < follow {
					return 1, false
				}
				rest = rest[follow:]
			}
		}
		return 0, false
	}
	err2 := s.each(keys, func(v *value) bool {
		_, letter := need()
		if letter && !s.ascii && v.kind == 'n' && v.whole > 0 && v.whole < 128 { // binary files have its code
			v.kind, v.text = 's', string(rune(v.whole))
		}
		if letter != (v.kind == 's') {
			err = s.errorf(keys.at, "key %d has other values than expected", len(c.times))
			return false
		}
		key = append(key, *v)
		if more, _ := need(); more == 0 {
			finish()
		}
		return err == nil && len(key) < 32
	})
	switch {
	case err != nil:
		return nil, err
	case err2 != nil:
		return nil, err2
	case len(key) > 0:
		return nil, s.errorf(keys.at, "the last key is incomplete")
	case len(c.times) == 0:
		return nil, nil
	}
	return c, s.finish(r, c, all)
}

// key6 returns a key by what follows its value.
func key6(v []value) key {
	k := key{flags: linear, outW: usualWeight, inW: usualWeight}
	get := func(i int) float64 {
		x, _ := number(v, i)
		return x
	}
	switch v[0].text {
	case "C":
		if k.flags = constant; text(v, 1) == "n" {
			k.flags |= auto
		}
	case "U", "A":
		weights := 2 // where they are
		switch text(v, 1) {
		case "s", "b":
			k.flags, k.data = cubic|user, [3]float64{get(2), get(3)}
			weights = 4
		case "t":
			k.flags, k.data = cubic|tcb, [3]float64{get(2), get(3), get(4)}
			weights = 5
		default:
			k.flags = cubic | auto | even
		}
		switch text(v, weights) {
		case "a":
			k.outW, k.inW = get(weights+1), get(weights+2)
		case "r":
			k.outW = get(weights + 1)
		case "l":
			k.inW = get(weights + 1)
		}
	}
	return k
}
