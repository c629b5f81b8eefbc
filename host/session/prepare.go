package session

// Preparer is a Store that can make a start with the next Create.
type Preparer interface {
	// Prepare returns at once; what it begins writes nothing and ends by itself.
	// What goes wrong is told by Create.
	Prepare()
}
