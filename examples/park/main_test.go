package main

func Example() {
	main()
	// Output:
	//  3 s: the dog's nose is 28.9 m from the person
	//  6 s: the dog's nose is 16.3 m from the person
	//  9 s: the dog's nose is 4.5 m from the person
	// 12 s: the dog's nose is 2.1 m from the person
	// 15 s: the dog's nose is 1.7 m from the person
}
