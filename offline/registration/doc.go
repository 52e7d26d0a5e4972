// Package registration puts recordings of the same action on one timeline, so that a
// database for style translation can match frames of different styles.
//
//   - [Read] reads folders of recordings of people and labels them by their names
//     ([ParseName]) or by a [Table].
//   - [Register] warps all takes of an action to one [Timeline], finds their contacts, and
//     reports the fit: [Report].
//   - [Timeline.Match] returns the frames of one take that match those of another.
//   - [Database] makes the database of package mar from registered takes.
//
// The order of reading is read.go, names.go and table.go for the takes; then register.go,
// feature.go, contact.go, cycle.go, template.go, warp.go and stand.go for the registration;
// then report.go, match.go and database.go.
package registration
