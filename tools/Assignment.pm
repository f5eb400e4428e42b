package Assignment; use strict; use warnings; use Chapter;
sub load { my @e; for my $n (split ' ', $ENV{CHAPTERS}//'02') { my ($p)=glob "chapters/${n}_*.c"; my $c=Chapter->load($p); push @e, map { {%$_, chapter=>$n} } grep {$_->{function}} @{$c->{exercises}}; } return {name=>'x', seconds=>60, exercises=>\@e}; } 1;
