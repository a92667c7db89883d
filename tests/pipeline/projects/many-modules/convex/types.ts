type NotAModule = { a: 1 };
