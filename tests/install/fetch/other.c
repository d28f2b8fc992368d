int more(void);
int main(void) { return more(); }
