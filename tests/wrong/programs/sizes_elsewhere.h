static int rows = 5;
