package webtest

import (
	"fmt"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// charset is how the bytes of a page are to be read, and in which language it
// is written.
type charset struct {
	name      string // as the Encoding Standard has it
	lang      string
	enc       encoding.Encoding
	label     string // "header", "meta" or "none"
	sentences []string
}

var legacy = [...]charset{
	{"gbk", "zh-CN", simplifiedchinese.GBK, "", chinese},
	{"gb18030", "zh-CN", simplifiedchinese.GB18030, "", chinese},
	{"big5", "zh-TW", traditionalchinese.Big5, "", taiwanese},
	{"shift_jis", "ja", japanese.ShiftJIS, "", japaneseText},
	{"euc-jp", "ja", japanese.EUCJP, "", japaneseText},
	{"euc-kr", "ko", korean.EUCKR, "", koreanText},
	{"windows-1251", "ru", charmap.Windows1251, "", russian},
	{"koi8-r", "ru", charmap.KOI8R, "", russian},
	{"windows-1252", "de", charmap.Windows1252, "", german},
	{"utf-8", "zh", unicode.UTF8, "", chinese},
}

// charsets: each encoding named by the header, by a meta element, and not at
// all.
func (l lab) charsets() {
	var refs []ref
	for i, proto := range legacy {
		for _, label := range []string{"header", "meta", "none"} {
			c := proto
			c.label = label
			if c.label == "none" && !detectable(c.name) {
				continue
			}
			p := &resource{charset: &c, number: i, size: 3000, mime: "text/html"}
			if c.label == "header" {
				p.mime += "; charset=" + c.name
			}
			p.title = c.headline(newRng(l.opt.Seed, uint64(l.h.index), uint64(i), 'c'))
			refs = append(refs, l.add(fmt.Sprintf("/charset/%s-%s.html", c.name, c.label), p))
		}
	}
	l.enter(l.list("/charset/", "Charsets of "+l.h.name, refs))
}

// detectable reports whether a page in this encoding can be told without a
// label. GB18030 pages look like GBK, Western ones are the default.
func detectable(name string) bool { return name != "gb18030" && name != "windows-1252" }

// headline returns a title in the language of the charset.
func (c *charset) headline(r *rng) string {
	s := c.sentences[r.intn(len(c.sentences))]
	return strings.TrimRight(s, "。. ")
}

// encode returns UTF-8 text in the charset. What it lacks would become a
// question mark; the sentences have nothing of that kind.
func (c *charset) encode(utf8 []byte) []byte {
	out, err := encoding.ReplaceUnsupported(c.enc.NewEncoder()).Bytes(utf8)
	if err != nil {
		panic("webtest: " + c.name + ": " + err.Error())
	}
	return out
}

var (
	chinese = []string{
		"市图书馆周末延长开放时间。", "记者昨天在现场看到，许多市民排队参观新展览。", "这座老桥将在明年春天完成修缮。",
		"专家认为，天气变化会影响今年的粮食产量。", "学校的孩子们参加了植树活动。", "新的地铁线路预计年底通车。",
		"当地居民表示，环境比过去好了很多。", "这项研究的结果发表在最新一期的杂志上。", "博物馆收藏了三千多件珍贵的文物。",
		"经济学家对明年的增长前景表示乐观。"}
	taiwanese = []string{
		"市立圖書館週末延長開放時間。", "記者昨天在現場看到，許多市民排隊參觀新展覽。", "這座老橋將在明年春天完成修繕。",
		"專家認為，天氣變化會影響今年的糧食產量。", "學校的孩子們參加了植樹活動。", "新的捷運路線預計年底通車。",
		"當地居民表示，環境比過去好了很多。", "這項研究的結果發表在最新一期的雜誌上。", "博物館收藏了三千多件珍貴的文物。",
		"經濟學家對明年的成長前景表示樂觀。"}
	japaneseText = []string{
		"市立図書館は週末の開館時間を延長します。", "昨日、多くの市民が新しい展覧会を訪れました。", "この古い橋は来年の春に修理が終わる予定です。",
		"専門家によると、天気の変化は今年の収穫に影響を与えるという。", "学校の子どもたちは木を植える活動に参加した。",
		"新しい地下鉄は年末に開通する見込みだ。", "住民は環境が以前よりずっと良くなったと話している。", "研究の結果は最新号の雑誌に発表された。"}
	koreanText = []string{
		"시립 도서관은 주말 개관 시간을 연장합니다.", "어제 많은 시민들이 새로운 전시회를 찾았습니다.", "이 오래된 다리는 내년 봄에 수리가 끝날 예정입니다.",
		"전문가들은 날씨 변화가 올해 수확에 영향을 줄 것이라고 말했다.", "학교 아이들이 나무 심기 행사에 참여했다.",
		"새로운 지하철 노선은 연말에 개통될 전망이다.", "주민들은 환경이 예전보다 훨씬 좋아졌다고 말한다.", "연구 결과는 최신호 잡지에 발표되었다."}
	russian = []string{
		"Городская библиотека продлевает часы работы по выходным.", "Вчера многие жители посетили новую выставку.",
		"Ремонт старого моста закончится весной следующего года.", "По мнению учёных, погода повлияет на урожай этого года.",
		"Школьники приняли участие в посадке деревьев.", "Новая линия метро откроется в конце года.",
		"Местные жители говорят, что воздух стал намного чище.", "Результаты исследования опубликованы в последнем номере журнала."}
	german = []string{
		"Die Stadtbücherei öffnet künftig auch am Wochenende.", "Gestern besuchten viele Bürger die neue Ausstellung.",
		"Die Brücke über die Flüsse wird im Frühjahr saniert.", "Ärzte rechnen für nächstes Jahr mit größeren Änderungen.",
		"Schüler pflanzten Bäume am Fuß der Höhe.", "Die neue U-Bahn fährt voraussichtlich ab Ende des Jahres."}
)
