package dateparser

import "strings"

// names are the months as languages write them in dates, with their usual
// abbreviations: English, German, French, Spanish, Italian, Portuguese, Catalan,
// Dutch, Swedish, Danish, Norwegian, Finnish, Estonian, Polish, Czech, Slovak,
// Croatian, Slovene, Hungarian, Romanian, Turkish, Indonesian, Greek, Russian,
// Ukrainian, Bulgarian, Arabic, Hebrew, Persian, Hindi.
var names = [12]string{
	" january jan januar jänner janvier janv enero ene gennaio gen janeiro gener januari januára janari tammikuuta tammikuu jaanuar stycznia sty ledna leden siječnja január ianuarie ian ocak oca ιανουαρίου ιαν января янв січня януари يناير ינואר ژانویه जनवरी ",
	" february feb februar feber février févr fév febrero febbraio fevereiro fev febrer februari febr helmikuuta helmikuu veebruar lutego lut února únor februára veljače február februarie şubat şub φεβρουαρίου φεβ февраля фев лютого февруари فبراير شباط פברואר فوریه फ़रवरी ",
	" march mar märz mrz mär mars marzo março març maart mrt maaliskuuta maaliskuu märts marca března březen ožujka március márc martie mart maret μαρτίου μαρ марта мар березня март مارس آذار מרץ मार्च ",
	" april apr avril avr abril abr aprile aprilie huhtikuuta huhtikuu aprill kwietnia kwi dubna duben apríla travnja aprila április ápr nisan nis απριλίου απρ апреля апр квітня април أبريل نيسان אפריל آوریل अप्रैल ",
	" may mai mayo maggio mag maio maig mei maj toukokuuta toukokuu maja května květen mája svibnja május máj mayıs μαΐου μαΐ мая травня май مايو أيار מאי مه मई ",
	" june jun juni juin junio giugno giu junho juny kesäkuuta kesäkuu juuni czerwca cze června červen júna lipnja junija június jún iunie iun haziran haz ιουνίου ιουν июня июн червня юни يونيو حزيران יוני ژوئن जून ",
	" july jul juli juillet juil julio luglio lug julho juliol heinäkuuta heinäkuu juuli lipca lip července červenec júla srpnja julija július júl iulie iul temmuz tem ιουλίου ιουλ июля июл липня юли يوليو تموز יולי ژوئیه जुलाई ",
	" august aug août agosto ago agost augustus augusti elokuuta elokuu sierpnia sie srpna srpen augusta kolovoza avgusta augusztus ağustos ağu agustus agu αυγούστου αυγ августа авг серпня август أغسطس آب אוגוסט اوت अगस्त ",
	" september sept sep septembre septiembre settembre set setembro setembre syyskuuta syyskuu września wrz září septembra rujna szeptember szept septembrie eylül eyl σεπτεμβρίου σεπ сентября сен сент вересня септември سبتمبر أيلول ספטמבר سپتامبر सितंबर ",
	" october oct oktober okt octobre octubre ottobre ott outubro out lokakuuta lokakuu oktoober października paź října říjen októbra október octombrie ekim eki οκτωβρίου οκτ октября окт жовтня октомври أكتوبر אוקטובר اکتبر अक्टूबर ",
	" november nov novembre noviembre novembro marraskuuta marraskuu listopad listopada lis novembra studenoga studenog noiembrie noi kasım kas νοεμβρίου νοε ноября ноя листопада ноември نوفمبر נובמבר نوامبر नवंबर ",
	" december dec dezember dez décembre déc diciembre dic dicembre dezembro desembre desember des joulukuuta joulukuu detsember grudnia gru prosince prosinec decembra prosinca decembrie aralık ara δεκεμβρίου δεκ декабря дек грудня декември ديسمبر דצמבר دسامبر दिसंबर ",
}

// joining are words that may stand between the parts of a date.
const joining = " of the de del di do da den der d a om "

// monthNamed returns 1 to 12, or 0 for a word that is no month.
func monthNamed(word string) int {
	for i := range names {
		if holds(names[i], word) {
			return i + 1
		}
	}
	return 0
}

func inside(word string) bool { return holds(joining, word) }

// holds reports whether a list of words between spaces has this one.
func holds(list, word string) bool {
	for at := 0; ; {
		i := strings.Index(list[at:], word)
		if i < 0 {
			return false
		}
		at += i + len(word)
		if list[at-len(word)-1] == ' ' && list[at] == ' ' {
			return true
		}
	}
}
