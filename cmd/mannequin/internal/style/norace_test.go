package style

const raced = false
