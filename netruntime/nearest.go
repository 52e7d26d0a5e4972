package netruntime

// Points are what a [Nearest] searches: rows of features.
type Points struct {
	Columns  int
	Features []float32  // (points, columns)
	Tags     [][]uint64 // for each set of tags: (points) a bit each
}

// Nearest finds the points that are nearest to queries, on a device such as a GPU. It belongs to one goroutine.
type Nearest interface {
	// Find finds the nearest allowed point for each want. queries is (wants, columns); its values are finite and
	// below 1e12. It returns false if the device has no answer: then the caller searches.
	Find(found []Found, queries []float32, wants []Want) bool
	// Close frees what is on the device.
	Close() error
}

// NearestOpener opens a Nearest for at most batch queries at a time. It returns nil without an error if there is no device.
type NearestOpener func(p *Points, batch int) (Nearest, error)

// Want says which points are allowed for a query.
type Want struct {
	Must, Never uint64 // bits of tags that the point has, and has not
	Set         int    // of Points.Tags, for Must; Never is of the first one
	First, End  int    // points that are not allowed: End is the one after the last
}

// Found is the nearest allowed point.
type Found struct {
	Point int     // −1: no point is allowed
	Cost  float32 // the square of the point's distance
	Next  float32 // that of the next nearest, or infinite; as large as Cost if two are equally near
}

// Certain reports whether no other point can be the nearest for a processor that sums the squares of the columns' differences in another
// order, or rounds otherwise. Each rounding is off by at most 2⁻²³.
func (f *Found) Certain(columns int) bool {
	low, _ := costs(f.Next, columns)
	_, high := costs(f.Cost, columns)
	return f.Point < 0 || high < low
}

// AtLeast returns a bound that no processor computes a lower cost than.
func (f *Found) AtLeast(columns int) float64 {
	low, _ := costs(f.Cost, columns)
	return low
}

// costs returns bounds of what a processor makes of a sum of squares that another one computed as cost. A difference, its square and the sums
// round, once more with each column, on either. Numbers that are too small for a float32's exponent may be 0.
func costs(cost float32, columns int) (low, high float64) {
	const unit, least = 1.0 / (1 << 23), 1e-30
	off := 2.1 * float64(columns+4) * unit
	return float64(cost)*(1-off) - least, float64(cost)*(1+off) + least
}
