04_random.o: chapters/04_random.c src/attention.h
src/attention.h:
