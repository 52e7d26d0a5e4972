package main

func Example() {
	main()
	// Output:
	// after 1 s the head is at (0.3, 0.6, 1.1)
	// after 2 s the head is at (1.3, 0.6, 2.9)
	// after 3 s the head is at (2.7, 0.6, 4.2)
	// after 4 s the head is at (4.5, 0.5, 5.0)
	// after 5 s the head is at (6.5, 0.6, 5.2)
}
