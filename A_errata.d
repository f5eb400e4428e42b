A_errata.o: chapters/A_errata.c src/attention.h
src/attention.h:
