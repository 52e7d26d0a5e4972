package main

func Example() {
	main()
	// Output:
	// after 2 s the head is at (7.0, 1.4, 4.0)
	// after 4 s the head is at (8.0, 1.3, 1.0)
	// after 6 s the head is at (6.4, 1.4, -4.7)
	// after 8 s the head is at (1.5, 1.3, -7.9)
}
