package main

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// message is what a process says to another after a tick.
type message struct {
	Tick, From uint32
	Game       []Fox  // the foxes that come,
	Save       []byte // and their motion
	Foxes      int    // that the sender had in the tick
	Crossed    int    // of these, those that had just come
	Hash       uint64 // of these
}

// again is how long a process waits for a message before it asks for it again.
const again = 300 * time.Millisecond

// mostMessage is the size of the largest message that a NATS server takes, if it is set up as usual. Larger ones go in parts.
const mostMessage = 1<<20 - 64

// mostParts bounds the parts of a message.
const mostParts = 4096

// line is the connection to the other processes. NATS may lose messages, as when its server is restarted. So a
// process keeps what it has said in the last two ticks, and says it again to who asks: nobody can need more.
type line struct {
	conn          *nats.Conn
	name          string
	shard, shards int
	parts         chan *nats.Msg
	half          map[string][][]byte // messages of which parts have come, by sender and tick
	early         []message           // of the next tick

	mu   sync.Mutex
	said [2]saying
}

// saying is what was said in a tick: the parts of the message to each process.
type saying struct {
	tick  uint32
	parts [][][]byte
}

func dial(url, name string, shard, shards int) (*line, error) {
	conn, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
	for range 50 { // it may be starting
		if err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
		conn, err = nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot reach the NATS server at %s: %w", url, err)
	}
	l := &line{conn: conn, name: name, shard: shard, shards: shards, parts: make(chan *nats.Msg, 1024), half: map[string][][]byte{}}
	_, err = conn.ChanSubscribe(fmt.Sprintf("%s.say.%d.>", name, shard), l.parts)
	if err == nil {
		_, err = conn.Subscribe(fmt.Sprintf("%s.ask.%d.*.*", name, shard), l.answer)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return l, nil
}

func (l *line) close() { l.conn.Close() }

// answer says again what another process has asked for, if this one has said it yet.
func (l *line) answer(m *nats.Msg) {
	var to int
	var tick uint32
	if _, err := fmt.Sscanf(strings.ReplaceAll(m.Subject[len(l.name):], ".", " "), " ask %d %d %d", new(int), &to, &tick); err != nil || to < 0 || to >= l.shards {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.said[tick%2]; s.tick == tick && s.parts != nil {
		l.say(to, s)
	}
}

// say sends the parts of a message. What is lost is asked for.
func (l *line) say(to int, s saying) {
	for i, part := range s.parts[to] {
		l.conn.Publish(fmt.Sprintf("%s.say.%d.%d.%d.%d.%d", l.name, to, l.shard, s.tick, i, len(s.parts[to])), part)
	}
}

// exchange sends messages[k] to process k, and returns the messages of all processes, by their number.
func (l *line) exchange(ctx context.Context, messages []message) ([]message, error) {
	tick := messages[l.shard].Tick
	s := saying{tick, make([][][]byte, l.shards)}
	for to, m := range messages {
		if to == l.shard {
			continue
		}
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(m); err != nil {
			return nil, err
		}
		s.parts[to] = slices.Collect(slices.Chunk(b.Bytes(), mostMessage))
	}
	l.mu.Lock()
	l.said[tick%2] = s
	for to := range messages {
		l.say(to, s)
	}
	l.mu.Unlock()
	all, missing := make([]message, l.shards), map[int]bool{}
	for from := range all {
		missing[from] = from != l.shard
	}
	all[l.shard] = messages[l.shard]
	delete(missing, l.shard)
	early := l.early
	l.early = nil
	for _, m := range early {
		l.take(m, tick, all, missing)
	}
	wait := time.NewTicker(again)
	defer wait.Stop()
	for len(missing) > 0 {
		select {
		case part := <-l.parts:
			m, whole, err := l.join(part)
			if err != nil {
				return nil, err
			}
			if whole {
				l.take(m, tick, all, missing)
			}
		case <-wait.C:
			for from := range missing {
				l.conn.Publish(fmt.Sprintf("%s.ask.%d.%d.%d", l.name, from, l.shard, tick), nil)
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return all, nil
}

// take notes a message. One of the next tick waits, and one that came before is dropped.
func (l *line) take(m message, tick uint32, all []message, missing map[int]bool) {
	from := int(m.From)
	switch {
	case m.Tick == tick && missing[from]:
		all[from] = m
		delete(missing, from)
	case m.Tick == tick+1 && !slices.ContainsFunc(l.early, func(e message) bool { return e.From == m.From }):
		l.early = append(l.early, m)
	}
}

// join puts the parts of messages together. It returns a message with its last part.
func (l *line) join(part *nats.Msg) (m message, whole bool, err error) {
	var from, i, n int
	var tick uint32
	if _, err := fmt.Sscanf(strings.ReplaceAll(part.Subject[len(l.name):], ".", " "), " say %d %d %d %d %d", new(int), &from, &tick, &i, &n); err != nil || i < 0 || n > mostParts || i >= n {
		return m, false, fmt.Errorf("a message of another kind: %s", part.Subject)
	}
	key := fmt.Sprint(from, " ", tick)
	if len(l.half[key]) != n {
		l.half[key] = make([][]byte, n)
	}
	l.half[key][i] = part.Data
	if slices.ContainsFunc(l.half[key], func(b []byte) bool { return b == nil }) {
		return m, false, nil
	}
	data := bytes.Join(l.half[key], nil)
	delete(l.half, key)
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&m); err != nil {
		return m, false, fmt.Errorf("a message of shard %d: %w", from, err)
	}
	if int(m.From) != from || m.Tick != tick {
		return m, false, fmt.Errorf("a message of shard %d in the name of shard %d", m.From, from)
	}
	return m, true, nil
}

// finish waits until all processes have ended their last tick.
func (l *line) finish(ctx context.Context, tick int) error {
	messages := make([]message, l.shards)
	for k := range messages {
		messages[k] = message{Tick: uint32(tick), From: uint32(l.shard)}
	}
	if _, err := l.exchange(ctx, messages); err != nil {
		return err
	}
	if l.shards > 1 {
		time.Sleep(2 * again) // others may ask for the last message
	}
	return nil
}
