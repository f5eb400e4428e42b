10_dropout.o: chapters/10_dropout.c src/attention.h
src/attention.h:
