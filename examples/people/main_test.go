package main

func Example() {
	main()
	// Output:
	// after 2 s the head is at (7.0, 1.4, 3.9)
	// after 4 s the head is at (7.9, 1.4, 0.9)
	// after 6 s the head is at (6.4, 1.4, -4.7)
	// after 8 s the head is at (1.5, 1.4, -7.8)
}
