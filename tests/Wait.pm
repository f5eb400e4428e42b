package Wait;

# Perl tests wait with this module until something has happened, however busy the
# machine is. $MOST is the longest wait.

use strict;
use warnings;
use Exporter 'import';
use Time::HiRes qw(sleep time);

our @EXPORT_OK = qw(wait_until);
our $MOST = 60; # seconds

# wait_until { -e $file } 'the file' calls the block until it returns a true value, and
# returns that value. After a minute it dies, with the words.
sub wait_until(&$) {
    my ($asked, $what) = @_;
    my $end = time + $MOST;
    while (1) {
        my $is_late = time > $end;
        my $answer = $asked->();
        return $answer if $answer;
        die "in $MOST seconds there was not $what\n" if $is_late;
        sleep 0.01;
    }
}

1;
