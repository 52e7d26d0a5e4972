package main

func Example() {
	main()
	// Output:
	// after 2 s the head is at (7.3, 1.3, 3.3)
	// after 4 s the head is at (8.0, 1.4, -0.3)
	// after 6 s the head is at (5.7, 1.4, -5.6)
	// after 8 s the head is at (0.3, 1.4, -8.0)
}
